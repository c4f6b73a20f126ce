import { join } from 'node:path';
import { labelsFor, readRunnerLabels } from '../adapters/runner/runner-labels.ts';
import { measureDevice } from '../local/measure-device.ts';
import type { GpuDevice } from '../model/catalog.ts';
import { AppError } from '../model/errors.ts';
import type { DeviceRates, Plan } from '../model/plan.ts';
import { renderPlan } from '../plan/render-plan.ts';
import { packageRoot } from '../preparation/package-root.ts';
import { prepareEngine } from '../preparation/prepare-engine.ts';
import { type Command, type CommandInput, optionText } from './command.ts';
import { llmOptions, openLlm } from './open-agents.ts';
import { openRequest } from './open-request.ts';

/** What the person states, in the place of what is known of the device that the file names. */
function statedRates(input: CommandInput, named: GpuDevice | undefined): DeviceRates | undefined {
  const bandwidth = statedRate(input, 'bandwidth');
  const flops = statedRate(input, 'flops');
  if (bandwidth === null && flops === null) return undefined;
  return {
    bytesPerSecond: bandwidth ?? named?.bytesPerSecond ?? null,
    flopsPerSecond: flops ?? named?.bf16FlopsPerSecond ?? null,
    source: 'stated',
  };
}

function statedRate(input: CommandInput, name: string): number | null {
  const written = optionText(input, name);
  if (written === undefined) return null;
  const value = Number(written);
  if (written.trim() === '' || !(value > 0)) {
    throw new AppError(
      'USAGE',
      `--${name} is "${written}"; expected a number above 0, in units of 1e9 a second.`,
    );
  }
  return value * 1e9;
}

/** Which runner can do what this machine may lack a GPU for. */
async function findLabels({ gpu, target }: Plan): Promise<readonly string[] | undefined> {
  if (gpu === undefined) return undefined;
  const labels = await readRunnerLabels(join(packageRoot(), 'runner-config/labels.yaml'));
  return labelsFor(labels, String(target['hardware.platform']), String(target['hardware.arch']));
}

export const planCommand: Command = {
  name: 'plan',
  summary: 'Say what an engine would be made of, and its physical limit',
  positionals: ['<file>'],
  options: {
    bandwidth: { type: 'string', value: 'GB/S', help: 'stated memory bandwidth of the device' },
    flops: { type: 'string', value: 'GFLOP/S', help: 'stated peak of the device (of a GPU: dense bf16)' },
    measure: { type: 'boolean', help: 'measure this processor (about 5 s) for the limit' },
    ...llmOptions,
  },
  examples: [
    'npx metainfer plan knowledge/examples/qwen3-0.6b.yaml --bandwidth 20',
    'npx metainfer plan my.yaml --json',
    'npx metainfer plan my.yaml --llm http://127.0.0.1:11434/v1 --model qwen3-coder:30b',
  ],
  async run(input, context) {
    const { request, catalog } = await openRequest(input.positionals[0]!, context);
    const platform = catalog.platforms.find((entry) => entry.id === request.constraints.hardware.platform);
    if (input.options.measure === true && platform?.gpu !== undefined) {
      throw new AppError(
        'USAGE',
        '--measure measures a processor. For a GPU name it in the file (hardware.device), or state --bandwidth and --flops.',
      );
    }
    const isMeasured = input.options.measure === true && platform !== undefined;
    const device = isMeasured
      ? await measureDevice(request, platform, context.config.cacheFolder)
      : statedRates(
          input,
          platform?.gpu?.devices.find(({ id }) => id === request.constraints.hardware.device),
        );
    const llm = (await openLlm(input, context))?.settings;
    const { plan } = prepareEngine(request, catalog, {
      device,
      llm,
      agents: { hasModel: llm !== undefined },
    });
    return {
      exitCode: plan.missing.length > 0 ? 2 : 0,
      data: plan,
      text: renderPlan(plan, { runnerLabels: await findLabels(plan) }),
    };
  },
};
