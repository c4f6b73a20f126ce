import { type Actor, type Capability, type Permission, permissions } from '../model/github.ts';
import type { RepositoryConfig } from '../model/repository-config.ts';

export interface AuthorizationRequest {
  /** Who asks: the sender of this event. */
  readonly actor: Actor;
  readonly capability: Capability;
  /** The actor's permission in the repository, looked up now by numeric id. */
  readonly permission: Permission;
  readonly config: RepositoryConfig;
  readonly isPrivate: boolean;
  /** Somebody allowed has let the very constraint hash at hand through. */
  readonly isApproved: boolean;
}

export type Authorization =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly message: string };

const approvalLabel = 'metainfer:approved';

const phrases: Readonly<Record<Capability, string>> = {
  read: 'see runs',
  plan: 'have an engine planned',
  generate: 'have an engine generated',
  runner: "use or stop this repository's runners",
};

/**
 * The one answer for every entrance (issue, pull request, command, label, check button). Pure. The message tells the
 * person what is missing and who can grant it.
 */
export function authorize(request: AuthorizationRequest): Authorization {
  const { actor, capability, permission, isApproved } = request;
  const costs = capability === 'generate' || capability === 'runner';
  if (costs && actor.isBot) return { allowed: false, message: botMessage(capability) };
  if (costs && isApproved) return { allowed: true };
  const needed = neededPermission(request);
  if (needed === null || rank(permission) >= rank(needed)) return { allowed: true };
  return { allowed: false, message: refusal(request, needed) };
}

/** Null where everybody may who can see the repository. */
function neededPermission({ capability, config, isPrivate }: AuthorizationRequest): Permission | null {
  const who = capability === 'read' ? 'anyone' : config.allow[capability];
  // In a private repository only those with a permission can see anything.
  if (who === 'anyone') return isPrivate ? 'read' : null;
  // GitHub reports `read` for every account on a public repository: it sets nobody apart from a stranger.
  const costs = capability === 'generate' || capability === 'runner';
  return who === 'read' && !isPrivate && costs ? 'triage' : who;
}

function rank(permission: Permission): number {
  return permissions.indexOf(permission);
}

function botMessage(capability: Capability): string {
  return `Bots can't ${phrases[capability]}, whatever their permission. A person with permission can: by a comment \`/metainfer generate\`, or by a request of their own.`;
}

function refusal({ capability, permission }: AuthorizationRequest, needed: Permission): string {
  const has = permission === 'none' ? 'no permission' : `${permission} permission`;
  const more = needed === 'admin' ? '' : ' or more';
  const head = `To ${phrases[capability]} here takes ${needed} permission${more}; you have ${has}.`;
  const grant = `An admin of the repository can give you ${needed} permission (Settings → Collaborators)`;
  if (capability === 'read') return `${head} ${grant}.`;
  const change = `or change \`allow.${capability}\` in \`.github/metainfer.yml\``;
  // The label lets an engine be made; it repeats, measures and stops nothing.
  if (capability !== 'generate') return `${head} ${grant} ${change}.`;
  return `${head} Somebody who has it can let this constraint file through with the label \`${approvalLabel}\`. ${grant} ${change}.`;
}
