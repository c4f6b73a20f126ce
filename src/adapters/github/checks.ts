import type { CheckDraft } from '../../model/delivery.ts';
import { annotationsPerRequest, toFields } from './check-fields.ts';
import { isPassing } from './github-errors.ts';
import { type Made, makeOnce, withoutRetries } from './make-once.ts';
import { sha256Of } from './marker.ts';
import type { Once } from './repository-client.ts';
import type { RepositorySession } from './repository-session.ts';

const checkName = 'metainfer';

interface GitHubCheck {
  readonly id: number;
  readonly html_url: string | null;
}

function toMade(check: GitHubCheck): Made {
  return { githubId: String(check.id), url: check.html_url };
}

async function patchCheck(
  session: RepositorySession,
  id: number,
  draft: CheckDraft,
  from: number,
): Promise<Made> {
  const { data } = await session.call((octokit) =>
    octokit.rest.checks.update({
      ...session.place,
      check_run_id: id,
      ...toFields(draft, from),
      request: withoutRetries,
    }),
  );
  return toMade(data);
}

async function countAnnotations(session: RepositorySession, id: number): Promise<number> {
  const { data } = await session.call((octokit) =>
    octokit.rest.checks.get({ ...session.place, check_run_id: id }),
  );
  return data.output.annotations_count;
}

/** Sends the draft from annotation `from` on, 50 a request; GitHub appends them. */
async function patchFrom(
  session: RepositorySession,
  id: number,
  draft: CheckDraft,
  from: number,
): Promise<Made> {
  let made = await patchCheck(session, id, draft, from);
  for (
    let next = from + annotationsPerRequest;
    next < draft.annotations.length;
    next += annotationsPerRequest
  ) {
    made = await patchCheck(session, id, draft, next);
  }
  return made;
}

/** As patchFrom. After a lost answer GitHub's count of annotations says where to go on, so that none comes twice. */
async function patchAll(
  session: RepositorySession,
  id: number,
  draft: CheckDraft,
  mayHaveLanded: boolean,
): Promise<Made> {
  let from = mayHaveLanded ? await countAnnotations(session, id) : 0;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await patchFrom(session, id, draft, from);
    } catch (error) {
      if (!isPassing(error) || attempt === 3) throw error;
      session.log.warn({ err: error, attempt }, 'an update of a check got no good answer');
      await session.pause(attempt * 2);
      from = await countAnnotations(session, id);
    }
  }
}

async function findCheck(
  session: RepositorySession,
  headSha: string,
  externalId: string,
): Promise<GitHubCheck | undefined> {
  const { data } = await session.call((octokit) =>
    octokit.rest.checks.listForRef({
      ...session.place,
      ref: headSha,
      check_name: checkName,
      filter: 'all',
      per_page: 100,
    }),
  );
  const login = await session.botLogin();
  return data.check_runs.find(
    (check) => check.external_id === externalId && `${check.app?.slug}[bot]` === login,
  );
}

export async function createCheck(
  session: RepositorySession,
  once: Once,
  headSha: string,
  externalId: string,
  draft: CheckDraft,
  detailsUrl: string | null,
): Promise<{ readonly id: number; readonly url: string }> {
  const write = async () => {
    const { data } = await session.call((octokit) =>
      octokit.rest.checks.create({
        ...session.place,
        ...toFields(draft, 0),
        name: checkName,
        head_sha: headSha,
        external_id: externalId,
        ...(detailsUrl === null ? {} : { details_url: detailsUrl }),
        request: withoutRetries,
      }),
    );
    return toMade(data);
  };
  const look = async () => {
    const found = await findCheck(session, headSha, externalId);
    return found && toMade(found);
  };
  const made = await makeOnce(session, once, { look, write });
  await sendRestOnce(session, { scope: once.scope, key: `${once.key}:annotations` }, made, draft);
  return { id: Number(made.githubId), url: made.url ?? '' };
}

/** Annotations beyond the first 50 of a new check. */
async function sendRestOnce(
  session: RepositorySession,
  once: Once,
  made: Made,
  draft: CheckDraft,
): Promise<void> {
  if (draft.annotations.length <= annotationsPerRequest) return;
  const id = Number(made.githubId);
  await makeOnce(session, once, {
    look: async () => {
      const count = await countAnnotations(session, id);
      return count < draft.annotations.length ? await patchFrom(session, id, draft, count) : made;
    },
    write: () => patchFrom(session, id, draft, annotationsPerRequest),
  });
}

export async function updateCheck(
  session: RepositorySession,
  once: Once,
  checkRunId: number,
  draft: CheckDraft,
): Promise<void> {
  const contentSha256 = sha256Of(draft);
  const known = await session.effects.find(once.scope, once.key);
  if (known?.state === 'done' && known.contentSha256 === contentSha256) return;
  await session.effects.begin(once.scope, once.key);
  const made = await patchAll(session, checkRunId, draft, known?.state === 'intent');
  await session.effects.finish(once.scope, once.key, { ...made, contentSha256 });
}
