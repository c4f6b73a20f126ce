import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parseCommands } from './parse-commands.ts';
import { actionOf } from './to-intent.ts';

export interface DeliveryDescription {
  readonly action: string | null;
  readonly repositoryId: number | null;
  readonly installationId: number | null;
  /** Two deliveries of one event have the same, also where one came through a repository's own webhook. */
  readonly semanticKey: string;
  /** Seconds in which a second delivery with the same semantic key is a copy. */
  readonly copyWindowSeconds: number;
  /** `control` for what must not wait behind other work: cancel and status. */
  readonly queue: 'deliveries' | 'control';
}

const copyWindowSeconds = 600;
/** Somebody who presses a button again after this means it, and the payload is the same. */
const buttonWindowSeconds = 5;

/** What the store must know of a delivery before anything is read into it. Never throws. */
export function describeDelivery(event: string, payload: unknown): DeliveryDescription {
  const action = actionOf(payload);
  return {
    action,
    repositoryId: idOf(payload, 'repository'),
    installationId: idOf(payload, 'installation'),
    semanticKey: semanticKey(event, payload),
    copyWindowSeconds: event === 'check_run' ? buttonWindowSeconds : copyWindowSeconds,
    queue: isUrgent(event, action, payload) ? 'control' : 'deliveries',
  };
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function idOf(payload: unknown, name: string): number | null {
  const id = z
    .int()
    .min(1)
    .safeParse(fieldOf(fieldOf(payload, name), 'id'));
  return id.success ? id.data : null;
}

function isUrgent(event: string, action: string | null, payload: unknown): boolean {
  if (event === 'check_run') return fieldOf(fieldOf(payload, 'requested_action'), 'identifier') === 'cancel';
  if (event !== 'issue_comment' && event !== 'pull_request_review_comment') return false;
  const body = fieldOf(fieldOf(payload, 'comment'), 'body');
  // This runs before GitHub gets its answer: what can't be urgent isn't parsed.
  if (action !== 'created' || typeof body !== 'string' || !/\/metainfer\s+(?:cancel|status)/.test(body))
    return false;
  const [first] = parseCommands(body);
  return first?.kind === 'command' && (first.name === 'cancel' || first.name === 'status');
}

/**
 * A repository's webhook leaves out `installation`, and counters of the surroundings move between two deliveries;
 * what the event itself is about stays the same to its `updated_at`.
 */
function semanticKey(event: string, payload: unknown): string {
  const hash = createHash('sha256').update(`${event}\n`);
  if (typeof payload !== 'object' || payload === null)
    return hash.update(JSON.stringify(payload) ?? '').digest('hex');
  const surroundings = ['installation', 'repository', 'sender', 'organization', 'enterprise'];
  const own = Object.entries(payload).filter(
    ([name]) => !surroundings.includes(name) || event.startsWith(name),
  );
  const ids = ['repository', 'sender'].map((name) => idOf(payload, name));
  return hash
    .update(JSON.stringify(ids))
    .update(canonical(Object.fromEntries(own), 0))
    .digest('hex');
}

/** JSON with sorted keys. Deeper than any payload of GitHub is left out, so that no text can exhaust the stack. */
function canonical(value: unknown, depth: number): string {
  if (depth > 32) return '"…"';
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item, depth + 1)}`).join(',')}}`;
}
