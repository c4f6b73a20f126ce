import { resolve } from 'node:path';
import { ArtifactRefusal } from '../adapters/runner/artifact-refusal.ts';
import { checkReport } from '../adapters/runner/check-report.ts';
import { openEngineFolder } from '../local/engine-folder.ts';
import { provideWeights } from '../local/local-weights.ts';
import { recordEvidence } from '../local/record-evidence.ts';
import { AppError } from '../model/errors.ts';
import type { Report } from '../model/report.ts';
import { openKnowledge } from '../preparation/knowledge-base.ts';
import type { PreparedEngine } from '../preparation/prepare-engine.ts';
import { type Command, optionText } from './command.ts';

export const evidenceCommand: Command = {
  name: 'knowledge evidence',
  summary: 'Record the passed report of an engine as evidence of its realizations',
  positionals: ['<engine>'],
  options: {
    weights: {
      type: 'string',
      value: 'DIR',
      help: 'checkpoint folder, where it is not where the constraint file says',
    },
  },
  examples: ['npx metainfer knowledge evidence engines/tiny-qwen3'],
  async run(input, context) {
    const { cacheFolder, weightsRoot } = context.config;
    const folder = resolve(input.positionals[0]!);
    const catalog = await openKnowledge(cacheFolder);
    const prepared = await openEngineFolder(folder, {
      catalog,
      weightsRoot,
      cacheFolder,
      weightsFolder: optionText(input, 'weights'),
    });
    const { request } = prepared;
    const data = await recordEvidence(prepared, folder, {
      checkpointFolder: await provideWeights(request, {
        cacheFolder,
        signal: context.signal,
        onProgress: context.progress.detail,
      }),
      check: (report, treeSha256) => believe(report, treeSha256, prepared),
    });
    return { exitCode: 0, data, text: `evidence for ${data.contracts} contracts, report ${data.report}` };
  },
};

/** As the app holds what a runner sends: verdict, goals, gates and benchmark must follow from each other. */
function believe(report: Report, treeSha256: string, { request }: PreparedEngine): void {
  const { goals, hardware } = request.constraints;
  try {
    checkReport(report, {
      ...{ treeSha256, constraintsSha256: request.sha256, platform: hardware.platform },
      ...{ goals: goals.require, fidelity: goals.fidelity },
    });
  } catch (error) {
    if (!(error instanceof ArtifactRefusal)) throw error;
    throw new AppError('ENGINE_INVALID', `The report is no evidence: ${error.message}.`);
  }
}
