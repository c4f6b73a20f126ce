import { isPassing } from './github-errors.ts';
import type { Once } from './repository-client.ts';
import type { RepositorySession } from './repository-session.ts';

/** What a write made on GitHub. */
export interface Made {
  readonly githubId: string;
  readonly url: string | null;
}

export interface Creation {
  /** What an earlier try left on GitHub, if anything. */
  look(): Promise<Made | undefined>;
  /** The write, with `request: { retries: 0 }`: Octokit would repeat one that landed. */
  write(): Promise<Made>;
}

/** Pass as `request` of a write that must not be repeated blindly. */
export const withoutRetries = { retries: 0 } as const;

const tries = 3;
/** A write that GitHub's proxy gave up on may still land; look a little later. */
const pauseSeconds = [2, 5];

/** Makes a thing on GitHub once, over crashes and lost answers. */
export async function makeOnce(session: RepositorySession, once: Once, creation: Creation): Promise<Made> {
  const known = await session.effects.find(once.scope, once.key);
  if (known?.state === 'done' && known.githubId !== null) return { githubId: known.githubId, url: known.url };
  if (known === undefined) await session.effects.begin(once.scope, once.key);
  const made = await lookAndWrite(session, creation, known !== undefined);
  await session.effects.finish(once.scope, once.key, { ...made, contentSha256: null });
  return made;
}

/** Writes, looking first where an earlier try may have landed. 422 and refusals are never tried again. */
export async function lookAndWrite(
  session: RepositorySession,
  creation: Creation,
  mayHaveLanded: boolean,
): Promise<Made> {
  let shouldLook = mayHaveLanded;
  for (let attempt = 1; ; attempt += 1) {
    const found = shouldLook ? await creation.look() : undefined;
    if (found !== undefined) return found;
    try {
      return await creation.write();
    } catch (error) {
      if (!isPassing(error) || attempt === tries) throw error;
      session.log.warn({ err: error, attempt }, 'a write on GitHub got no good answer; looking for it first');
      await session.pause(pauseSeconds[attempt - 1] ?? 5);
      shouldLook = true;
    }
  }
}

/** A write that may be repeated safely (an edit); the same content is not sent a second time. */
export async function editOnce(
  session: RepositorySession,
  once: Once,
  contentSha256: string,
  edit: () => Promise<Made>,
): Promise<void> {
  const known = await session.effects.find(once.scope, once.key);
  if (known?.state === 'done' && known.contentSha256 === contentSha256) return;
  await session.effects.begin(once.scope, once.key);
  const made = await edit();
  await session.effects.finish(once.scope, once.key, { ...made, contentSha256 });
}
