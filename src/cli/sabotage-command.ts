import { availableParallelism } from 'node:os';
import { type Campaign, runCampaign } from '../local/sabotage-campaign.ts';
import { AppError } from '../model/errors.ts';
import { openKnowledge } from '../preparation/knowledge-base.ts';
import { type Command, type CommandInput, optionText } from './command.ts';
import { judgeOptions, seedOption } from './judge-options.ts';

/** Share of mechanical mutants, equivalent ones left out, that a gate must see. */
const leastMechanicalRate = 0.95;

function countOption(input: CommandInput): number {
  const written = optionText(input, 'mechanical') ?? '100';
  if (/^\d{1,5}$/.test(written)) return Number(written);
  throw new AppError('USAGE', `--mechanical is "${written}"; expected a whole number.`);
}

function platformOption(input: CommandInput): 'cpu-x86_64' | 'cuda' {
  const written = optionText(input, 'platform') ?? 'cpu-x86_64';
  if (written === 'cpu-x86_64' || written === 'cuda') return written;
  throw new AppError('USAGE', `--platform is "${written}"; expected cpu-x86_64 or cuda.`);
}

function share(part: number, whole: number): string {
  return whole === 0 ? `0 of 0` : `${part} of ${whole} (${((100 * part) / whole).toFixed(1)} %)`;
}

export function summarise(campaign: Campaign) {
  const { handMade, mechanical } = campaign;
  const survivors = mechanical.filter((outcome) => outcome.detectedBy === null);
  const judged = mechanical.filter((outcome) => outcome.equivalentBecause === null);
  const detected = judged.filter((outcome) => outcome.detectedBy !== null).length;
  const passed =
    handMade.every((outcome) => outcome.detectedBy !== null && outcome.isLocated) &&
    (judged.length === 0 || detected / judged.length >= leastMechanicalRate);
  const text = [
    `hand-made: ${share(handMade.filter((outcome) => outcome.detectedBy !== null).length, handMade.length)} detected, ${share(handMade.filter((outcome) => outcome.isLocated).length, handMade.length)} located`,
    `mechanical: ${share(mechanical.length - survivors.length, mechanical.length)} detected; ${share(detected, judged.length)} without the equivalent ones; ${share(mechanical.filter((outcome) => outcome.isLocated).length, mechanical.length - survivors.length)} of the detected located; ${campaign.stillborn} did not compile`,
    ...handMade
      .filter((outcome) => !outcome.isLocated)
      .map(
        (outcome) =>
          `not located: ${outcome.id} (${outcome.detectedBy ?? 'survived'}, blames ${outcome.blamed ?? 'nobody'})`,
      ),
    ...survivors.map(
      (outcome) =>
        `survivor: ${outcome.id} [${outcome.says}]: ${outcome.equivalentBecause ?? 'NO REASON KNOWN: a gate is missing'}`,
    ),
    `seed ${campaign.seed}`,
  ].join('\n');
  return { passed, text };
}

export const sabotageCommand: Command = {
  name: 'knowledge sabotage',
  summary: 'Break realizations on purpose and see whether a gate turns red',
  positionals: [],
  options: {
    mechanical: { type: 'string', value: 'N', help: 'mechanical mutants that compile; default 100' },
    only: {
      type: 'string',
      value: 'TEXT',
      help: 'those whose id holds one of these texts, separated by commas',
    },
    platform: { type: 'string', value: 'NAME', help: 'cpu-x86_64 (default) or cuda' },
    seed: { type: 'string', value: 'N', help: 'of the drawn mutants and prompts; default 1' },
  },
  examples: [
    'npx metainfer knowledge sabotage',
    'npx metainfer knowledge sabotage --mechanical 0 --only rope',
  ],
  async run(input, context) {
    context.progress.start('sabotage');
    const campaign = await runCampaign({
      ...judgeOptions(context),
      catalog: await openKnowledge(context.config.cacheFolder),
      seed: seedOption(input) ?? 1,
      mechanical: countOption(input),
      only: optionText(input, 'only'),
      platform: platformOption(input),
      jobs: Math.min(2, availableParallelism()),
    });
    const { passed, text } = summarise(campaign);
    context.progress.end(passed ? 'passed' : 'failed');
    return { exitCode: passed ? 0 : 1, data: campaign, text };
  },
};
