import { readSide } from '../knowledge/change/knowledge-side.ts';
import { checkCompleteness } from '../knowledge/completeness/check-completeness.ts';
import { checkTree } from '../knowledge/load-catalog.ts';
import { readTree } from '../knowledge/read-tree.ts';
import { AppError } from '../model/errors.ts';
import { nearestName } from '../model/nearest-name.ts';
import { formatProblem } from '../model/problem.ts';
import { knowledgeRoot } from '../preparation/knowledge-base.ts';
import type { Command } from './command.ts';

export const knowledgeCompletenessCommand: Command = {
  name: 'knowledge completeness',
  summary: 'Score how much of what an implementer needs each contract states, and list what is missing',
  positionals: ['[contract]'],
  options: {},
  examples: ['npx metainfer knowledge completeness', 'npx metainfer knowledge completeness norm.rms --json'],
  async run(input) {
    const tree = await readTree(knowledgeRoot());
    const wanted = input.positionals[0];
    const { contracts } = readSide(tree);
    if (wanted !== undefined && !contracts.has(wanted)) {
      const near = nearestName(wanted, [...contracts.keys()]);
      const hint =
        near === undefined ? 'The table of knowledge/README.md has all ids.' : `Did you mean ${near}?`;
      throw new AppError('USAGE', `There is no contract ${wanted}. ${hint}`);
    }
    const scores = [...contracts.values()]
      .filter(({ contract }) => wanted === undefined || contract.frontMatter.id === wanted)
      .map((loaded) =>
        checkCompleteness(loaded, tree.get(`contracts/${loaded.contract.folder}/contract.md`)?.text ?? ''),
      );
    const lines = scores.flatMap(({ contract, version, points, of, score, holes }) => [
      `${contract} ${version}: ${score.toFixed(2)} (${points} of ${of})`,
      ...holes.map((hole) => `  ${formatProblem(hole)}`),
    ]);
    return {
      exitCode: 0,
      data: { protocol: 1, catalogSha256: checkTree(tree).catalog?.sha256 ?? null, contracts: scores },
      text: lines.join('\n'),
    };
  },
};
