import { describe, expect, it } from 'vitest';
import { type Capability, capabilities, type Permission, permissions } from '../../src/model/github.ts';
import { RepositoryConfig } from '../../src/model/repository-config.ts';
import { type AuthorizationRequest, authorize } from '../../src/webhooks/authorize.ts';

const defaults = RepositoryConfig.parse({});
const ada = { id: 1001, login: 'ada', isBot: false };
const bot = { id: 1002, login: 'renovate[bot]', isBot: true };

function ask(over: Partial<AuthorizationRequest>) {
  return authorize({
    actor: ada,
    capability: 'generate',
    permission: 'none',
    config: defaults,
    isPrivate: false,
    isApproved: false,
    ...over,
  });
}

function messageOf(over: Partial<AuthorizationRequest>): string {
  const answer = ask(over);
  return answer.allowed ? 'allowed' : answer.message;
}

/** Permissions with which a capability is granted. */
function grantedWith(capability: Capability, over: Partial<AuthorizationRequest> = {}): Permission[] {
  return permissions.filter((permission) => ask({ capability, permission, ...over }).allowed);
}

const config = (allow: object) => RepositoryConfig.parse({ allow });

describe('without a configuration', () => {
  it('lets every account plan and read in a public repository, and only writers cause cost', () => {
    expect(grantedWith('read')).toEqual(permissions);
    expect(grantedWith('plan')).toEqual(permissions);
    expect(grantedWith('generate')).toEqual(['write', 'maintain', 'admin']);
    expect(grantedWith('runner')).toEqual(['write', 'maintain', 'admin']);
  });

  it('lets nobody in who cannot see a private repository', () => {
    expect(grantedWith('read', { isPrivate: true })).toEqual(permissions.slice(1));
    expect(grantedWith('plan', { isPrivate: true })).toEqual(permissions.slice(1));
  });
});

describe('with a configuration', () => {
  it('asks for the permission that it names', () => {
    const strict = config({ plan: 'triage', generate: 'maintain', runner: 'admin' });
    expect(grantedWith('plan', { config: strict })).toEqual(['triage', 'write', 'maintain', 'admin']);
    expect(grantedWith('generate', { config: strict })).toEqual(['maintain', 'admin']);
    expect(grantedWith('runner', { config: strict })).toEqual(['admin']);
  });

  it('lets strangers generate only where it says so in that word', () => {
    expect(ask({ config: config({ generate: 'anyone' }) })).toEqual({ allowed: true });
  });

  it('does not take the read permission that everybody has on a public repository for one that was given', () => {
    const open = config({ generate: 'read' });
    expect(grantedWith('generate', { config: open })).toEqual(['triage', 'write', 'maintain', 'admin']);
    expect(grantedWith('generate', { config: open, isPrivate: true })).toEqual(permissions.slice(1));
  });
});

describe('approval', () => {
  it('lets generation and runner time through for somebody without permission', () => {
    expect(ask({ capability: 'generate', isApproved: true })).toEqual({ allowed: true });
    expect(ask({ capability: 'runner', isApproved: true })).toEqual({ allowed: true });
  });

  it('gives no sight of a private repository', () => {
    expect(ask({ capability: 'plan', isPrivate: true, isApproved: true }).allowed).toBe(false);
  });
});

describe('bots', () => {
  it('may plan and never cause cost, with any permission and with approval', () => {
    for (const capability of capabilities) {
      const { allowed } = ask({ actor: bot, capability, permission: 'admin', isApproved: true });
      expect(allowed).toBe(capability === 'read' || capability === 'plan');
    }
  });

  it('are told that a person has to ask', () => {
    expect(messageOf({ actor: bot, permission: 'admin' })).toBe(
      "Bots can't have an engine generated, whatever their permission. A person with permission can: by a comment `/metainfer generate`, or by a request of their own.",
    );
  });
});

describe('a refusal', () => {
  it('says what is missing and who can grant it', () => {
    expect(messageOf({ permission: 'read' })).toBe(
      'To have an engine generated here takes write permission or more; you have read permission. Somebody who has it can let this constraint file through with the label `metainfer:approved`. An admin of the repository can give you write permission (Settings → Collaborators) or change `allow.generate` in `.github/metainfer.yml`.',
    );
  });

  it('speaks of the label only where it helps, and of a setting only where there is one', () => {
    const strict = config({ plan: 'admin' });
    expect(messageOf({ capability: 'plan', config: strict, permission: 'write' })).toBe(
      'To have an engine planned here takes admin permission; you have write permission. An admin of the repository can give you admin permission (Settings → Collaborators) or change `allow.plan` in `.github/metainfer.yml`.',
    );
    expect(messageOf({ capability: 'read', isPrivate: true })).toBe(
      'To see runs here takes read permission or more; you have no permission. An admin of the repository can give you read permission (Settings → Collaborators).',
    );
  });
});
