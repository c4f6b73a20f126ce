import type { z } from 'zod';
import { suggestKey } from '../constraints/key-suggestion.ts';
import { showText, tidyProblems } from '../constraints/problem-list.ts';
import { normaliseText } from '../constraints/source-text.ts';
import { guardYaml } from '../constraints/yaml-guard.ts';
import { readYamlTree, type YamlTree } from '../constraints/yaml-tree.ts';
import { nearestName } from '../model/nearest-name.ts';
import type { Problem } from '../model/problem.ts';
import { RepositoryConfig } from '../model/repository-config.ts';

export interface ParsedRepositoryConfig {
  /** After defaults. Undefined exactly where a problem is an error: a broken file must not widen what anybody may do. */
  readonly config: RepositoryConfig | undefined;
  /** In the order of the file, each with its place. */
  readonly problems: readonly Problem[];
}

/** Reads `.github/metainfer.yml`; `undefined` is a repository without one, and an empty file says nothing either. Never throws. */
export function parseRepositoryConfig(text: string | undefined, path: string): ParsedRepositoryConfig {
  const { value, problems } = readConfig(text ?? '');
  const isBroken = problems.some(({ severity }) => severity === 'error');
  return {
    config: isBroken ? undefined : RepositoryConfig.parse(value),
    problems: tidyProblems(problems).map((problem) => ({
      ...problem,
      file: path,
      // The texts of YAML's own faults were written for the other kind of file.
      message: problem.message.replace('a constraint file', 'this file'),
    })),
  };
}

function readConfig(written: string): { readonly value: unknown; readonly problems: readonly Problem[] } {
  const { text, problems } = normaliseText(written);
  if (problems.some(({ severity }) => severity === 'error')) return { value: {}, problems };
  const guarded = guardYaml(text);
  if (guarded.length > 0) return { value: {}, problems: [...problems, ...guarded] };
  const tree = readYamlTree(text);
  if (tree.problems.length > 0) return { value: {}, problems: [...problems, ...tree.problems] };
  const value = tree.value ?? {};
  const checked = RepositoryConfig.safeParse(value);
  const faults = checked.success ? [] : checked.error.issues.flatMap((issue) => describe(issue, tree));
  return { value, problems: [...problems, ...faults] };
}

type Issue = z.core.$ZodIssue;

function describe(issue: Issue, tree: YamlTree): Problem[] {
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(key, path, tree));
  const written = tree.places.get(path);
  const place = written?.value ?? { line: 1, column: 1 };
  const code = issue.code === 'too_big' || issue.code === 'too_small' ? 'out-of-range' : 'wrong-value';
  const expected = expectations[path.replace(/\.\d+$/, '')] ?? 'a mapping of settings';
  const message = `found ${written?.shown ?? 'no mapping'}; expected ${expected}.`;
  const near =
    issue.code === 'invalid_value'
      ? nearestName(written?.shown.replace(/^"|"$/g, '') ?? '', issue.values.map(String))
      : undefined;
  return [
    {
      severity: 'error',
      code,
      ...place,
      ...(path === '' ? {} : { path: showText(path) }),
      message,
      ...(near === undefined ? {} : { suggestion: `Did you mean ${near}?` }),
    },
  ];
}

const who = 'anyone, read, triage, write, maintain or admin';

const tokens = 'a whole number of tokens from 0 to 1000000000';

/** What each field may be, in words; a test holds the keys against the schema. */
export const expectations: Readonly<Record<string, string>> = {
  allow: 'plan, generate and runner, each with who may',
  'allow.plan': who,
  'allow.generate': who,
  'allow.runner': who,
  knowledge: 'repository and share_lessons',
  'knowledge.repository': 'the owner/name of a repository',
  'knowledge.share_lessons': 'true or false',
  limits: 'runs_per_actor_per_day',
  'limits.runs_per_actor_per_day': 'a whole number from 1 to 1000',
  generation: 'auto_approve_tokens, tokens_per_run and tokens_per_day',
  'generation.auto_approve_tokens': `${tokens}; a plan that expects more waits for approval`,
  'generation.tokens_per_run': tokens,
  'generation.tokens_per_day': tokens,
  runner: 'extra_labels',
  'runner.extra_labels':
    'a list of at most 8 runner labels, each of letters, digits, dots, dashes and underscores',
};

function unknownKey(key: string, parent: string, tree: YamlTree): Problem {
  const path = parent === '' ? key : `${parent}.${key}`;
  const where = parent === '' ? 'at the top level' : `under ${parent}`;
  const prefix = parent === '' ? '' : `${parent}.`;
  const keys = Object.keys(expectations);
  const siblings = keys
    .filter((name) => name.startsWith(prefix) && !name.slice(prefix.length).includes('.'))
    .map((name) => name.slice(prefix.length));
  const homes = new Map(keys.map((name) => [name.slice(name.lastIndexOf('.') + 1), name] as const));
  return {
    severity: 'error',
    code: 'unknown-key',
    ...(tree.places.get(path)?.key ?? { line: 1, column: 1 }),
    path: showText(path),
    message: `unknown key "${showText(key)}" ${where}.`,
    suggestion: suggestKey(key, siblings, homes),
  };
}
