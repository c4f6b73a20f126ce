import type { LocalGitHub } from '../../src/local/github/local-github.ts';

export interface ApiAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what GitHub answers is checked against its schemas, not by types
  readonly body: any;
  readonly headers: Headers;
}

export type ApiCall = (method: string, path: string, body?: unknown) => Promise<ApiAnswer>;

/** Calls the stand-in's REST API over HTTP with a token; `path` begins after `/api/v3`. */
export function apiOf(github: LocalGitHub, token?: string): ApiCall {
  return async (method, path, body) => {
    const url = path === '/graphql' ? `${github.url}/api/graphql` : `${github.apiUrl}${path}`;
    const response = await fetch(url, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
}
