import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { constraintHeading } from '../../src/webhooks/find-constraint-block.ts';
import { toIntent } from '../../src/webhooks/to-intent.ts';

const root = join(import.meta.dirname, '../..');
const readYaml = (path: string): unknown => parse(readFileSync(join(root, path), 'utf8'));

describe('app.yml', () => {
  const manifest = readYaml('app.yml') as {
    readonly name: string;
    readonly public: boolean;
    readonly default_permissions: Readonly<Record<string, string>>;
    readonly default_events: readonly string[];
  };

  it('asks for the permissions that the app uses and for no other', () => {
    expect(manifest.default_permissions).toEqual({
      metadata: 'read',
      contents: 'write',
      issues: 'write',
      pull_requests: 'write',
      checks: 'write',
      actions: 'write',
    });
  });

  it('subscribes to every event that the app reads and to none that it ignores', () => {
    const known = [
      ...[
        'check_run',
        'check_suite',
        'create',
        'delete',
        'issue_comment',
        'issues',
        'label',
        'member',
        'milestone',
      ],
      ...['pull_request', 'pull_request_review', 'pull_request_review_comment', 'pull_request_review_thread'],
      ...['push', 'release', 'repository', 'repository_dispatch', 'star', 'status', 'workflow_dispatch'],
      ...['workflow_job', 'workflow_run'],
    ];
    const unused = /^the event ".*" is not used$/;
    const used = known.filter((event) => {
      const intent = toIntent(event, {});
      return intent.kind !== 'ignored' || !unused.test(intent.because);
    });
    expect([...manifest.default_events].sort()).toEqual(used);
  });

  it('has a name that GitHub takes: at most 34 characters', () => {
    expect(manifest.name.length).toBeLessThanOrEqual(34);
  });
});

describe('the issue form', () => {
  const form = readYaml('.github/ISSUE_TEMPLATE/engine-request.yml') as {
    readonly name: string;
    readonly description: string;
    readonly body: readonly {
      readonly type: string;
      readonly id?: string;
      readonly attributes: Readonly<Record<string, unknown>>;
    }[];
  };
  const inputs = form.body.filter(({ type }) => type !== 'markdown');

  it('has what GitHub asks of a form: a name, a description, and fields with distinct ids and labels', () => {
    expect(form.name.length).toBeGreaterThan(3);
    expect(form.description.length).toBeGreaterThan(3);
    expect(inputs.length).toBeGreaterThan(0);
    for (const values of [inputs.map(({ id }) => id), inputs.map(({ attributes }) => attributes.label)]) {
      expect(new Set(values).size).toBe(inputs.length);
      expect(values).not.toContain(undefined);
    }
  });

  it('calls the constraint file what the parser looks for, and renders it as YAML', () => {
    const { attributes } = inputs.find(({ id }) => id === 'constraints')!;
    expect(attributes).toMatchObject({ label: constraintHeading, render: 'yaml' });
  });
});
