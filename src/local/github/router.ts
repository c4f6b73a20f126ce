import type { App, Installation, Repository, User, World } from './world.ts';

/** Who sent a request, by its Authorization header. */
export type Actor =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'user'; readonly user: User }
  /** With the app's JWT. */
  | { readonly kind: 'app'; readonly app: App }
  | {
      readonly kind: 'installation';
      readonly app: App;
      readonly installation: Installation;
      /** The app's bot user. */
      readonly user: User;
      readonly permissions: Readonly<Record<string, string>>;
      readonly repositoryIds: ReadonlySet<number>;
    };

export interface RequestContext {
  readonly world: World;
  readonly actor: Actor;
  /** The repository of `{owner}/{repo}`, already known to be visible to the actor. Throws on a path without one. */
  readonly repository: Repository;
  /** Decoded path parameters, named as in the route's path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Parsed JSON; undefined where the request had no body. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The whole address, for `Link` headers. */
  readonly url: URL;
}

/** `body` is sent as JSON; `raw` as it is, with the content type from `headers`. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly raw?: Buffer;
}

export type PermissionNeed = readonly [permission: string, level: 'read' | 'write'];
export type UserRole = 'read' | 'triage' | 'write' | 'maintain' | 'admin';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As GitHub's OpenAPI names it, word for word: `/repos/{owner}/{repo}/issues/{issue_number}`. */
  readonly path: string;
  /** Permission an installation token needs; none: metadata read is enough. */
  readonly needs?: PermissionNeed;
  /** Other permissions that do as well (issue comments on pull requests). */
  readonly orNeeds?: readonly PermissionNeed[];
  /**
   * Role that a person needs in the repository. Left out: read for reading and for writing issues and pull requests
   * (anybody who sees a repository may open an issue), write for any other write.
   */
  readonly userRole?: UserRole;
  /** 'app': only with the app's JWT. 'installation': only with an installation's token. 'anyone': no check at all. */
  readonly access?: 'app' | 'installation' | 'anyone';
  handle(context: RequestContext): Promise<Reply>;
}

/** Rendered as GitHub renders an error: `{ message, errors?, documentation_url, status }`. */
export class GitHubError extends Error {
  readonly status: number;
  readonly errors: readonly unknown[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    errors?: readonly unknown[],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = 'GitHubError';
    this.status = status;
    this.errors = errors;
    this.headers = headers;
  }
}

/** The person or bot that acts. @throws GitHubError 401 for anonymous requests and app JWTs */
export function senderOf(context: RequestContext): User {
  const { actor } = context;
  if (actor.kind === 'user' || actor.kind === 'installation') return actor.user;
  throw new GitHubError(401, 'Requires authentication');
}

/** A positive whole number from the path. @throws GitHubError 404 for anything else, as GitHub answers */
export function numberParam(context: RequestContext, name: string): number {
  const text = context.params[name] ?? '';
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new GitHubError(404, 'Not Found');
  return Number(text);
}

/** The request's JSON object. @throws GitHubError 400 where the body is something else */
export function bodyOf(context: RequestContext): Readonly<Record<string, unknown>> {
  const { body } = context;
  if (body === undefined) return {};
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new GitHubError(400, 'Body should be a JSON object');
  }
  return body as Record<string, unknown>;
}

/** Parameters whose value may hold slashes. */
const slashParams = new Set(['path', 'ref', 'basehead', 'branch']);

export interface CompiledRoute {
  readonly route: Route;
  readonly pattern: RegExp;
  readonly literalSegments: number;
}

/** The most literal path first, so that `…/commits/{ref}/check-runs` wins over `…/commits/{ref}`. */
export function compileRoutes(routes: readonly Route[]): readonly CompiledRoute[] {
  return routes
    .map((route) => ({
      route,
      pattern: patternOf(route.path),
      literalSegments: route.path.split('/').filter((segment) => segment !== '' && !segment.startsWith('{'))
        .length,
    }))
    .sort((left, right) => right.literalSegments - left.literalSegments);
}

function patternOf(path: string): RegExp {
  // The root folder is asked for as `/contents/` and as `/contents`.
  if (path.endsWith('/{path}')) {
    return new RegExp(`^${sourceOf(path.slice(0, -'/{path}'.length))}(?:/(?<path>.*))?$`);
  }
  return new RegExp(`^${sourceOf(path)}$`);
}

function sourceOf(path: string): string {
  return path
    .split(/(\{\w+\})/)
    .map((part) => {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      if (name === undefined) return part.replace(/[.*+?^$()|[\]\\{}]/g, '\\$&');
      return slashParams.has(name) ? `(?<${name}>.+)` : `(?<${name}>[^/]+)`;
    })
    .join('');
}

/** The route for a method and an encoded path, with decoded parameters; undefined where no route fits. */
export function matchRoute(
  routes: readonly CompiledRoute[],
  method: string,
  path: string,
): { readonly route: Route; readonly params: Readonly<Record<string, string>> } | undefined {
  for (const { route, pattern } of routes) {
    if (route.method !== method && !(method === 'HEAD' && route.method === 'GET')) continue;
    const match = pattern.exec(path);
    if (match !== null) return { route, params: decodeAll(match.groups ?? {}) };
  }
  return undefined;
}

function decodeAll(groups: Readonly<Record<string, string | undefined>>): Record<string, string> {
  try {
    return Object.fromEntries(
      Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value ?? '')]),
    );
  } catch {
    throw new GitHubError(400, 'Problems parsing the request path: it is not valid percent-encoding');
  }
}
