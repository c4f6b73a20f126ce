import { AppError } from '../model/errors.ts';
import type { RunRecord } from '../model/run-record.ts';
import { type AppContext, clientOf } from './app-context.ts';

/**
 * The branch that an engine is made for: an issue's is the default branch; a pull request's is its own branch, once that
 * is merged the one it went to.
 * @throws AppError NOT_PERMITTED where the constraint file is still in a fork
 */
export async function chooseBase(
  context: AppContext,
  { repository, source }: Pick<RunRecord, 'repository' | 'source'>,
): Promise<string> {
  if (source.kind === 'issue') return repository.defaultBranch;
  const pull = await clientOf(context, repository).readPull(source.number);
  if (pull.isMerged) return pull.baseRef;
  if (pull.isFork) {
    throw new AppError(
      'NOT_PERMITTED',
      'The constraint file is in a fork. Its engine can be made once this pull request is merged, or once somebody with write access brings the file to a branch of this repository.',
    );
  }
  return pull.state === 'open' ? pull.headRef : pull.baseRef;
}
