import type { LocalGitHub } from '../../src/local/github/local-github.ts';
import { openGitHubSchemas } from './github-schemas.ts';

/** What was checked while a test ran against the local GitHub. */
export interface GitHubWatch {
  /** One line for every answer or payload that is not as GitHub publishes it, and for unknown routes. */
  readonly problems: readonly string[];
  /** How many answers and payloads were held against GitHub's schemas. */
  readonly counts: { readonly responses: number; readonly webhooks: number };
}

/** Holds every answer and every webhook of the stand-in against GitHub's published schemas from now on. */
export function watchGitHub(github: LocalGitHub): GitHubWatch {
  const schemas = openGitHubSchemas();
  const problems: string[] = [];
  const counts = { responses: 0, webhooks: 0 };
  github.observe({
    onExchange({ method, route, path, status, responseBody }) {
      if (route === null) problems.push(`${method} ${path} is not part of the local stand-in`);
      // GraphQL, 304 and raw answers have no schema.
      if (route === null || route === '/graphql' || status === 304) return;
      if (responseBody === undefined && status === 200) return;
      counts.responses += 1;
      problems.push(...schemas.checkResponse(method, route, status, responseBody));
    },
    onDelivery({ event, action, payload }) {
      counts.webhooks += 1;
      problems.push(...schemas.checkWebhook(event, action, payload));
    },
  });
  return { problems, counts };
}
