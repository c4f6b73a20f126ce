import { resolve } from 'node:path';
import { checkChange } from '../knowledge/change/check-change.ts';
import { countClaimedTargets } from '../knowledge/change/claimed-targets.ts';
import { unrepeatedEvidence } from '../knowledge/change/unrepeated-evidence.ts';
import { checkTree } from '../knowledge/load-catalog.ts';
import { readTree, type Tree } from '../knowledge/read-tree.ts';
import { AppError } from '../model/errors.ts';
import { formatProblem, type Problem } from '../model/problem.ts';
import { knowledgeRoot } from '../preparation/knowledge-base.ts';
import { readTreeAt } from '../preparation/read-tree-at.ts';
import { type Command, type CommandResult, optionText } from './command.ts';

export const knowledgeCheckCommand: Command = {
  name: 'knowledge check',
  summary: 'Check every contract, realization, model and failure mode, or what changed in them',
  positionals: ['[folder]'],
  options: {
    against: {
      type: 'string',
      value: 'REF',
      help: 'check the change since a commit, or against another folder: versions, evidence, gates, copies',
    },
  },
  examples: [
    'npx metainfer knowledge check',
    'npx metainfer knowledge check --against main',
    'npx metainfer knowledge check ./my-knowledge --json',
  ],
  async run(input) {
    const root = input.positionals[0] === undefined ? knowledgeRoot() : resolve(input.positionals[0]);
    const tree = await readTree(root);
    const against = optionText(input, 'against');
    const { catalog, problems } = checkTree(tree);
    // A mistyped folder must not pass for knowledge without a contradiction.
    if (catalog?.contracts.length === 0) throw new AppError('USAGE', `${root} holds no contracts/.`);
    if (against !== undefined) return reportChange(await readTreeAt(root, against), tree);
    const counts =
      catalog === undefined
        ? countFaults(problems)
        : `${catalog.contracts.length} contracts, ${catalog.contracts.reduce((sum, contract) => sum + contract.realizations.length, 0)} realizations, ${catalog.models.length} models, ${catalog.failureModes.length} failure modes: no contradiction`;
    return {
      exitCode: catalog === undefined ? 2 : 0,
      data: { problems, catalogSha256: catalog?.sha256 ?? null },
      text: [...problems.map(formatProblem), counts].join('\n'),
    };
  },
};

function countFaults(problems: readonly Problem[]): string {
  return `${problems.filter((problem) => problem.severity === 'error').length} faults`;
}

function reportChange(before: Tree, after: Tree): CommandResult {
  const problems = checkChange(before, after);
  const unrepeated = unrepeatedEvidence(before, after);
  const isRefused = problems.some(({ severity }) => severity === 'error');
  const toBuild = isRefused ? [] : countClaimedTargets(before, after);
  const verdict = isRefused
    ? countFaults(problems)
    : `no fault that shows without building; ${problems.length} to look at`;
  return {
    exitCode: isRefused ? 2 : 0,
    data: { problems, unrepeated, toBuild },
    text: [
      ...problems.map(formatProblem),
      ...unrepeated.map(
        ({ file, line, realization, repeat }) =>
          `${file}:${line}: ${realization} is unrepeated evidence until somebody runs: ${repeat}`,
      ),
      ...toBuild.map(({ file, targets }) => `${file}: to be built and gated on ${targets} targets`),
      verdict,
    ].join('\n'),
  };
}
