import type { KnownModel } from '../model/catalog.ts';
import { readModelConfig } from '../model/model-config.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import { nearestName } from '../model/nearest-name.ts';
import type { Problem } from '../model/problem.ts';
import type { PartialConstraints } from './partial-constraints.ts';
import { type Locate, maxProblems, showText } from './problem-list.ts';

export interface ResolveModelOptions {
  readonly origin: 'command-line' | 'github';
  readonly catalogModels: readonly KnownModel[];
}

export interface ResolvedModel {
  /** Absent for a path (its config.json is read later) and where a problem is an error. */
  readonly facts?: ModelFacts;
  readonly problems: readonly Problem[];
}

/** The facts behind `model`, as far as the text alone tells them. */
export function resolveModel(
  model: PartialConstraints['model'],
  options: ResolveModelOptions,
  locate: Locate,
): ResolvedModel {
  const forms = Object.keys(model ?? {});
  if (model === undefined || forms.length !== 1)
    return { problems: model === undefined ? [] : [oneForm(forms, locate)] };
  if ('id' in model && model.id !== undefined) return resolveId(model.id, options.catalogModels, locate);
  if ('config' in model && model.config !== undefined) return resolveConfig(model.config, locate);
  if (options.origin === 'command-line') return { problems: [] };
  const message =
    'a file that comes through GitHub cannot name a path on the runner; expected model.id or model.config.';
  const suggestion =
    'The operator puts checkpoints under METAINFER_WEIGHTS; name the model by id with weights: {source: checkpoint}.';
  return {
    problems: [
      {
        severity: 'error',
        code: 'path-not-allowed',
        ...locate('model.path'),
        path: 'model.path',
        message,
        suggestion,
      },
    ],
  };
}

function oneForm(forms: readonly string[], locate: Locate): Problem {
  const found = forms.length === 0 ? 'none of them' : forms.join(' and ');
  const message = `found ${found}; expected exactly one of id, config, path.`;
  return { severity: 'error', code: 'model-form', ...locate('model'), path: 'model', message };
}

function resolveId(id: string, models: readonly KnownModel[], locate: Locate): ResolvedModel {
  const known = models.find((model) => model.id === id);
  if (known !== undefined) {
    const { facts, problems } = readModelConfig(known.config, known.generationConfig);
    return facts === undefined
      ? { problems: problems.map((problem) => placeProblem(problem, 'model.id', locate)) }
      : { facts, problems: [] };
  }
  const ids = models.map((model) => model.id);
  const near =
    nearestName(id, ids) ??
    ids.find((candidate) => candidate.split('/')[1]?.toLowerCase() === id.split('/').pop()?.toLowerCase());
  const message = `the model "${showText(id)}" is not in knowledge/models; known: ${ids.join(', ') || 'none'}.`;
  const suggestion =
    near === undefined
      ? 'A model of a covered family can also be given by model.config, or model.path on the command line.'
      : `Did you mean ${near}?`;
  return {
    problems: [
      {
        severity: 'error',
        code: 'unknown-model',
        ...locate('model.id'),
        path: 'model.id',
        message,
        suggestion,
      },
    ],
  };
}

function resolveConfig(config: unknown, locate: Locate): ResolvedModel {
  const { facts, problems } = readModelConfig(config);
  const placed = problems
    .slice(0, maxProblems + 1)
    .map((problem) => placeProblem(problem, 'model.config', locate));
  return facts === undefined ? { problems: placed } : { facts, problems: placed };
}

/** A problem of a config.json, told at its place in the constraint file. */
function placeProblem(problem: Problem, base: string, locate: Locate): Problem {
  const path = problem.path === undefined || base === 'model.id' ? base : `${base}.${problem.path}`;
  const { file: _, ...rest } = problem;
  return {
    ...rest,
    ...locate(path),
    path: showText(path),
    message: Array.from(rest.message, showText).join(''),
  };
}
