import { resolve } from 'node:path';
import { loadCatalog } from '../knowledge/load-catalog.ts';
import { AppError } from '../model/errors.ts';
import { formatProblem } from '../model/problem.ts';
import { knowledgeRoot } from '../preparation/knowledge-base.ts';
import type { Command } from './command.ts';

export const knowledgeCheckCommand: Command = {
  name: 'knowledge check',
  summary: 'Check every contract, realization, model and failure mode',
  positionals: ['[folder]'],
  options: {},
  examples: ['npx metainfer knowledge check', 'npx metainfer knowledge check ./my-knowledge --json'],
  async run(input) {
    const root = input.positionals[0] === undefined ? knowledgeRoot() : resolve(input.positionals[0]);
    const { catalog, problems } = await loadCatalog(root);
    // A mistyped folder must not pass for knowledge without a contradiction.
    if (catalog?.contracts.length === 0) throw new AppError('USAGE', `${root} holds no contracts/.`);
    const counts =
      catalog === undefined
        ? `${problems.filter((problem) => problem.severity === 'error').length} faults`
        : `${catalog.contracts.length} contracts, ${catalog.contracts.reduce((sum, contract) => sum + contract.realizations.length, 0)} realizations, ${catalog.models.length} models, ${catalog.failureModes.length} failure modes: no contradiction`;
    return {
      exitCode: catalog === undefined ? 2 : 0,
      data: { problems, catalogSha256: catalog?.sha256 ?? null },
      text: [...problems.map(formatProblem), counts].join('\n'),
    };
  },
};
