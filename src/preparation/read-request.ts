import { readFile } from 'node:fs/promises';
import { checkConstraintsAgainstFacts } from '../constraints/facts-rules.ts';
import { parseConstraints } from '../constraints/parse-constraints.ts';
import type { Catalog } from '../model/catalog.ts';
import type { Constraints } from '../model/constraints.ts';
import { AppError } from '../model/errors.ts';
import { formatProblem, type Problem } from '../model/problem.ts';
import { tellGap } from './find-gap.ts';
import { type LocatedModel, locateModel } from './locate-model.ts';

/** A constraint file that was accepted, with the model that it names. */
export interface Request {
  readonly text: string;
  readonly constraints: Constraints;
  readonly sha256: string;
  readonly warnings: readonly Problem[];
  readonly model: LocatedModel;
}

/** The bytes of a constraint file. @throws AppError USAGE where it cannot be read */
export async function readConstraintFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason =
      code === 'ENOENT' ? 'does not exist' : code === 'EISDIR' ? 'is a folder' : 'cannot be read';
    throw new AppError('USAGE', `The constraint file ${path} ${reason}.`, { cause: error });
  }
}

/**
 * Text → accepted request. `weightsFolder` overrides where a checkpoint is looked for (an engine that was moved).
 * @throws AppError CONSTRAINTS_INVALID with every problem, NOT_COVERED, or what locateModel throws
 */
export async function readRequest(
  text: string,
  places: {
    readonly fileName: string;
    readonly origin: 'command-line' | 'github';
    readonly weightsRoot: string | undefined;
    readonly weightsFolder?: string | undefined;
    /** The weights are on a runner, not here. */
    readonly isElsewhere?: boolean;
    readonly catalog: Catalog;
  },
): Promise<Request> {
  const parsed = parseConstraints(text, {
    fileName: places.fileName,
    origin: places.origin,
    catalogModels: places.catalog.models,
    catalogPlatforms: places.catalog.platforms,
  });
  const { constraints, sha256 } = parsed;
  const gap = tellGap(text, parsed, places.catalog);
  if (constraints === undefined || sha256 === undefined)
    throw refusal(parsed.problems, parsed.notCovered, gap);
  if (parsed.notCovered.length > 0) {
    const lines = [...parsed.notCovered.map(({ message }) => message), ...gap].map((line) => `- ${line}`);
    throw new AppError(
      'NOT_COVERED',
      `The file is right, and asks for what knowledge does not cover yet:\n${lines.join('\n')}`,
    );
  }
  const model = await locateModel(constraints, {
    constraintsFile: places.fileName,
    weightsRoot: places.weightsRoot,
    weightsFolder: places.weightsFolder,
    isElsewhere: places.isElsewhere,
    models: places.catalog.models,
  });
  const late = checkConstraintsAgainstFacts(constraints, model.facts, parsed.locate);
  const problems = [...parsed.problems, ...late];
  if (late.some((problem) => problem.severity === 'error')) throw refusal(dropRepeats(problems));
  return {
    text,
    constraints,
    sha256,
    model,
    warnings: problems.filter((problem) => problem.severity === 'warning'),
  };
}

function refusal(
  problems: readonly Problem[],
  notCovered: readonly { readonly message: string }[] = [],
  gap: readonly string[] = [],
): AppError {
  const count = problems.filter((problem) => problem.severity === 'error').length;
  const lines = [
    ...problems.map(formatProblem),
    ...notCovered.map((entry) => `also: ${entry.message}`),
    ...gap,
  ].map((line) => `- ${line}`);
  return new AppError(
    'CONSTRAINTS_INVALID',
    `The constraint file has ${count === 1 ? 'a problem' : `${count} problems`}:\n${lines.join('\n')}`,
  );
}

function dropRepeats(problems: readonly Problem[]): readonly Problem[] {
  const seen = new Set<string>();
  return problems.filter((problem) => {
    const line = formatProblem(problem);
    const isNew = !seen.has(line);
    seen.add(line);
    return isNew;
  });
}
