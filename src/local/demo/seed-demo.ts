import { randomBytes } from 'node:crypto';
import type { LocalGitHub } from '../github/local-github.ts';
import type { Repository } from '../github/world.ts';

/** The people and things of the demo, as they would be on GitHub once the app is installed. */
export interface DemoSeed {
  readonly repository: Repository;
  /** Asks for the engine; has write access. */
  readonly person: { readonly login: string; readonly token: string };
  readonly app: {
    readonly appId: number;
    readonly privateKey: string;
    readonly webhookSecret: string;
  };
  /** Installs the app on the repository: once it listens, for the first webhook comes with it. */
  install(): void;
}

export interface AppManifest {
  readonly name: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly events: readonly string[];
}

/** One repository with the engine workflow and code owners, one person with write access, and the app, not yet installed. */
export async function seedDemo(
  github: LocalGitHub,
  options: {
    readonly manifest: AppManifest;
    readonly workflow: { readonly path: string; readonly text: string };
    readonly webhookUrl: string;
  },
): Promise<DemoSeed> {
  const owner = 'example';
  const person = github.addUser('ada');
  const reviewer = github.addUser('grace');
  const repository = await github.addRepository(owner, 'inference', {
    ownerType: 'Organization',
    files: {
      'README.md': '# inference\n\nEngines for our machines, generated and verified by MetaInfer Bot.\n',
      '.github/CODEOWNERS': '# Engines are reviewed by somebody who knows kernels.\n/engines/ @grace\n',
      [options.workflow.path]: options.workflow.text,
    },
  });
  repository.collaborators.set(person.id, 'write');
  repository.collaborators.set(reviewer.id, 'maintain');
  const webhookSecret = randomBytes(24).toString('hex');
  const { app, appId, privateKey } = github.addApp({
    name: options.manifest.name,
    permissions: options.manifest.permissions,
    events: options.manifest.events,
    webhookUrl: options.webhookUrl,
    webhookSecret,
  });
  return {
    repository,
    person: { login: person.login, token: github.userToken(person.login) },
    app: { appId, privateKey, webhookSecret },
    install: () => void github.install(app, [repository]),
  };
}
