import { AppError } from '../../model/errors.ts';
import type { RunEvent } from '../../model/run.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { tellGap } from '../../preparation/find-gap.ts';
import type { AppContext } from '../app-context.ts';
import { acceptRequest, parseFromGithub } from '../constraint-request.ts';

/** Reads the text; with problems the run ends here, and they are kept with their places for the comment. */
export async function acceptConstraints(context: AppContext, run: RunRecord): Promise<RunEvent> {
  const { text, fileName } = run.state.input;
  const parsed = parseFromGithub(context, text);
  await context.store.saveDocument(run.id, 'problems', {
    problems: parsed.problems,
    notCovered: [
      ...parsed.notCovered.map(({ message }) => message),
      ...tellGap(text, parsed, context.catalog),
    ],
  });
  const { constraints, sha256 } = await acceptRequest(context, text, fileName);
  if ('path' in constraints.model)
    throw new AppError('CONSTRAINTS_INVALID', 'model.path works on the command line only.');
  return { type: 'constraints-accepted', constraints, sha256 };
}
