import type { Platform } from '../model/catalog.ts';
import { Constraints } from '../model/constraints.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import type { Problem } from '../model/problem.ts';
import { applyDefaults } from './apply-defaults.ts';
import { hashConstraints } from './constraint-hash.ts';
import { findNotCovered, type NotCovered } from './coverage.ts';
import { describeIssue, dropEchoes, locateIn } from './describe-issue.ts';
import { checkConstraintsAgainstFacts } from './facts-rules.ts';
import { checkFieldRules } from './field-rules.ts';
import { type PartialConstraints, type PartialWritten, withoutPaths } from './partial-constraints.ts';
import { type Locate, tidyProblems } from './problem-list.ts';
import { type ResolveModelOptions, resolveModel } from './resolve-model.ts';
import { normaliseText } from './source-text.ts';
import { WrittenConstraints } from './written-constraints.ts';
import { guardYaml } from './yaml-guard.ts';
import { readYamlTree, type YamlTree } from './yaml-tree.ts';

export interface ParseConstraintsOptions extends ResolveModelOptions {
  /** Stands before every problem. */
  readonly fileName?: string;
  /** With their tables of devices, which `hardware.device` is looked up in. */
  readonly catalogPlatforms: readonly Pick<Platform, 'id' | 'gpu'>[];
}

export interface ParsedConstraints {
  /** There exactly when no problem is an error. */
  readonly constraints?: Constraints;
  readonly sha256?: string;
  /** There for a known id and a good inline config; a path's facts are read from its folder later. */
  readonly facts?: ModelFacts;
  readonly problems: readonly Problem[];
  /** Known values that no knowledge fills yet: not an error of the file, and no engine can be made for it now. */
  readonly notCovered: readonly NotCovered[];
  /** Places of fields, for `checkConstraintsAgainstFacts` once the facts of a folder are known. */
  readonly locate: Locate;
}

/**
 * Reads a constraint file. Pure; never throws, whatever the text: every problem is reported at once, in the order of
 * the file, with its place.
 */
export function parseConstraints(text: string, options: ParseConstraintsOptions): ParsedConstraints {
  const { tree, problems } = readText(text);
  const inFile: Locate = locateIn(tree?.places ?? new Map());
  const locate: Locate = (path) => ({
    ...(options.fileName === undefined ? {} : { file: options.fileName }),
    ...inFile(path),
  });
  const finish = (
    found: readonly Problem[],
    rest: Omit<ParsedConstraints, 'problems' | 'locate'>,
  ): ParsedConstraints => ({
    ...rest,
    problems: tidyProblems(dropEchoes(found)).map((problem) =>
      options.fileName === undefined ? problem : { ...problem, file: options.fileName },
    ),
    locate,
  });
  if (tree === undefined) return finish(problems, { notCovered: [] });
  const partial = readFields(tree, options.catalogPlatforms, locate, problems);
  const model = resolveModel(partial.model, options, locate);
  problems.push(...model.problems, ...checkFieldRules(partial, locate, options));
  if (model.facts !== undefined) problems.push(...checkConstraintsAgainstFacts(partial, model.facts, locate));
  const rest = {
    notCovered: findNotCovered(partial),
    ...(model.facts === undefined ? {} : { facts: model.facts }),
  };
  if (problems.some((problem) => problem.severity === 'error')) return finish(problems, rest);
  const constraints = Constraints.parse(partial);
  return finish(problems, { ...rest, constraints, sha256: hashConstraints(constraints) });
}

const exampleHint = 'knowledge/examples/qwen3-0.6b.yaml is a file that works.';

/** Text → tree; no tree where the syntax leaves nothing to look at. */
function readText(text: string): { tree?: YamlTree; problems: Problem[] } {
  const normal = normaliseText(text);
  const problems = [...normal.problems];
  if (problems.some((problem) => problem.severity === 'error')) return { problems };
  const guarded = guardYaml(normal.text);
  if (guarded.length > 0) return { problems: [...problems, ...guarded] };
  const tree = readYamlTree(normal.text);
  problems.push(...tree.problems);
  if ((tree.value === undefined && tree.problems.length === 0) || tree.value === null) {
    const message = 'the file is empty; expected a mapping that begins with apiVersion: metainfer/v1.';
    return {
      problems: [...problems, { severity: 'error', code: 'empty-file', message, suggestion: exampleHint }],
    };
  }
  const isCut = tree.problems.some((problem) => problem.code === 'too-deep');
  return tree.value === undefined || isCut ? { problems } : { tree, problems };
}

function readFields(
  tree: YamlTree,
  platforms: ParseConstraintsOptions['catalogPlatforms'],
  locate: Locate,
  problems: Problem[],
): PartialConstraints {
  const checked = WrittenConstraints.safeParse(tree.value);
  const issues = checked.success ? [] : checked.error.issues;
  const told = new Set(tree.problems.map((problem) => problem.path));
  for (const problem of issues.flatMap((issue) => describeIssue(issue, tree.places))) {
    if (problem.path !== undefined && told.has(problem.path)) continue;
    told.add(problem.path);
    problems.push(problem);
  }
  const broken = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path],
  );
  const clean = withoutPaths(tree.value, broken) ?? {};
  return applyDefaults(clean as PartialWritten, platforms, locate, problems);
}
