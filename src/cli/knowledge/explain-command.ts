import { coverKnowledge } from '../../knowledge/views/cover-knowledge.ts';
import { explainContract } from '../../knowledge/views/explain-contract.ts';
import { renderAccount } from '../../knowledge/views/render-account.ts';
import { AppError } from '../../model/errors.ts';
import { nearestName } from '../../model/nearest-name.ts';
import { openKnowledgeView } from '../../preparation/open-knowledge-view.ts';
import type { Command } from '../command.ts';

export const explainCommand: Command = {
  name: 'knowledge explain',
  summary: 'Say what a contract is, who needs it, what implements it, what proves it and what is missing',
  positionals: ['<contract>'],
  options: {},
  examples: [
    'npx metainfer knowledge explain norm.rms',
    'npx metainfer knowledge explain linear.dense --json',
  ],
  async run(input, context) {
    const view = await openKnowledgeView(context.config.cacheFolder);
    const asked = input.positionals[0]!;
    const account = explainContract(view, coverKnowledge(view), asked);
    if (account !== undefined) return { exitCode: 0, data: account, text: renderAccount(account) };
    const ids = view.catalog.contracts.map(({ frontMatter }) => frontMatter.id);
    const near = nearestName(asked, ids) ?? ids.find((id) => id.split('.').includes(asked));
    const hint = near === undefined ? `There is ${ids.join(', ')}.` : `Did you mean ${near}?`;
    throw new AppError('USAGE', `There is no contract "${asked}". ${hint}`);
  },
};
