import { createVerify } from 'node:crypto';
import { type Actor, GitHubError } from './router.ts';
import type { App, World } from './world.ts';

/**
 * Who an Authorization header stands for; anonymous without one. Bearer and token schemes; Basic as git sends it
 * (the token is the password).
 * @throws GitHubError 401 for anything unknown, expired or wrongly signed
 */
export function authenticate(world: World, header: string | undefined): Actor {
  if (header === undefined || header === '') return { kind: 'anonymous' };
  const [scheme = '', value = ''] = header.split(/\s+/, 2);
  const secret = secretOf(scheme.toLowerCase(), value);
  if (secret === undefined) throw new GitHubError(401, 'Bad credentials');
  if (secret.split('.').length === 3) return { kind: 'app', app: verifyAppToken(world, secret) };
  const token = world.tokens.get(secret);
  if (token === undefined) throw new GitHubError(401, 'Bad credentials');
  if (token.kind === 'user') return { kind: 'user', user: token.user };
  const { installation, permissions, repositoryIds, expiresAt } = token;
  if (expiresAt <= world.now() || !world.installations.has(installation.id)) {
    throw new GitHubError(401, 'Bad credentials');
  }
  const { app } = installation;
  return { kind: 'installation', app, installation, user: app.bot, permissions, repositoryIds };
}

function secretOf(scheme: string, value: string): string | undefined {
  if (scheme === 'bearer' || scheme === 'token') return value;
  if (scheme !== 'basic') return undefined;
  const text = Buffer.from(value, 'base64').toString('utf8');
  return text.slice(text.indexOf(':') + 1);
}

/** An app's JWT: RS256, `iss` the app's id or client id, alive for at most ten minutes. */
function verifyAppToken(world: World, token: string): App {
  const [head = '', body = '', signature = ''] = token.split('.');
  const header = parsePart(head);
  const claims = parsePart(body);
  if (header?.alg !== 'RS256' || claims === undefined) {
    throw new GitHubError(401, 'A JSON web token could not be decoded');
  }
  const app = [...world.apps.values()].find(
    (candidate) => String(candidate.id) === String(claims.iss) || candidate.clientId === claims.iss,
  );
  if (app === undefined) throw new GitHubError(401, 'Integration not found');
  const verified = createVerify('RSA-SHA256')
    .update(`${head}.${body}`)
    .verify(app.publicKey, Buffer.from(signature, 'base64url'));
  if (!verified) throw new GitHubError(401, 'A JSON web token could not be decoded');
  checkTimes(claims, world.now().getTime() / 1000);
  return app;
}

function checkTimes(claims: Readonly<Record<string, unknown>>, now: number): void {
  const { iat, exp } = claims;
  if (typeof exp !== 'number') throw new GitHubError(401, "Missing 'expiration' claim ('exp')");
  if (typeof iat !== 'number') throw new GitHubError(401, "Missing 'issued at' claim ('iat')");
  if (exp <= now) {
    throw new GitHubError(
      401,
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    );
  }
  if (exp > now + 600) throw new GitHubError(401, "'Expiration time' claim ('exp') is too far in the future");
  if (iat > now + 60) {
    throw new GitHubError(
      401,
      "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
    );
  }
}

function parsePart(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
