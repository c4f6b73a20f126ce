import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../model/errors.ts';
import { type AblationCell, AblationPlan, AblationResult, differencesOf } from './ablation-plan.ts';

const planFile = 'ablation.json';

/** Whole or as it was. */
export async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.part`, text);
  await rename(`${path}.part`, path);
}

export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new AppError('USAGE', `${path} cannot be read.`, { cause: error });
  }
}

/**
 * Begins an ablation in a folder, or takes up the one that is there.
 * @throws AppError USAGE where the folder holds another ablation, or something else
 */
export async function openAblationFolder(folder: string, plan: AblationPlan): Promise<void> {
  const text = await readIfThere(join(folder, planFile));
  if (text === undefined) await requireEmpty(folder);
  else requireSamePlan(folder, readPlan(join(folder, planFile), text), plan);
  await writeWhole(join(folder, planFile), `${JSON.stringify(plan, null, 2)}\n`);
}

async function requireEmpty(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new AppError('USAGE', `${folder} is not a folder that can be read.`, { cause: error });
  });
  if (names.length === 0) return;
  throw new AppError('USAGE', `${folder} holds other files and no ablation. Name a new folder with -o.`);
}

function readPlan(path: string, text: string): AblationPlan {
  try {
    return AblationPlan.parse(JSON.parse(text));
  } catch (error) {
    throw new AppError('USAGE', `${path} is not an ablation of this program. Name a new folder with -o.`, {
      cause: error,
    });
  }
}

function requireSamePlan(folder: string, begun: AblationPlan, now: AblationPlan): void {
  const differences = differencesOf(begun, now);
  if (differences.length === 0) return;
  throw new AppError(
    'USAGE',
    `${folder} holds an ablation that was begun with something else: ${differences.join(', ')}.\n` +
      'Runs that differ in more than the mode cannot be compared. Name a new folder with -o, or repeat the command as it was; --repeats may grow.',
  );
}

/** Where a run keeps its state, its calls and its engine. */
export function cellFolder(folder: string, { file, mode, repeat }: AblationCell): string {
  return join(folder, 'runs', file.name, `${mode}-${repeat}`);
}

/** @throws AppError RUN_STATE_INVALID where the file is damaged */
export async function readResult(folder: string): Promise<AblationResult | undefined> {
  const path = join(folder, 'result.json');
  const text = await readIfThere(path);
  if (text === undefined) return undefined;
  try {
    return AblationResult.parse(JSON.parse(text));
  } catch (error) {
    throw new AppError(
      'RUN_STATE_INVALID',
      `${path} is damaged. Delete ${dirname(path)} and start the same command again.`,
      { cause: error },
    );
  }
}

export async function saveResult(folder: string, result: AblationResult): Promise<void> {
  await writeWhole(join(folder, 'result.json'), `${JSON.stringify(result, null, 2)}\n`);
}
