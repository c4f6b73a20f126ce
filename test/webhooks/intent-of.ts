import { expect } from 'vitest';
import type { Intent } from '../../src/model/github.ts';
import { toIntent } from '../../src/webhooks/to-intent.ts';
import { openGitHubSchemas } from '../support/github-schemas.ts';
import { githubPayload, person, place } from './github-payload.ts';

/** GitHub's published schemas. */
export const schemas = openGitHubSchemas();

/** The intent of a payload that GitHub's published schema accepts. */
export function intentOf(event: string, action: string, fields: object): Intent {
  const payload = githubPayload(event, action, { ...place, sender: person, ...fields });
  expect(schemas.checkWebhook(event, action, payload)).toEqual([]);
  return toIntent(event, payload);
}

export function ignoredBecause(intent: Intent): string | undefined {
  return intent.kind === 'ignored' ? intent.because : undefined;
}
