import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildContractTask } from '../../../src/generation/agents/contract-task.ts';
import {
  type OptimizeOptions,
  type OptimizeOutcome,
  optimizeOnce,
} from '../../../src/local/agents/optimize.ts';
import type { AgentFile } from '../../../src/model/agent-work.ts';
import { Report } from '../../../src/model/report.ts';
import { configForAgents, type PreparedEngine } from '../../../src/preparation/prepare-engine.ts';
import { openScriptedModel } from '../../generation/agents/scripted-model.ts';
import type { Reply } from '../../support/model-server/reply.ts';
import { type AgentSubject, replacing, sharedCache, withText } from './agent-subject.ts';

const normLine = 'const float scale = 1.0f / std::sqrt(mean + config::rms_norm_eps);';

/** norm.rms is right, and so slow that it shows in whatever the engine does. */
export function slowFiles({ files }: AgentSubject): ReadonlyMap<string, AgentFile> {
  const waste = 'for (volatile int wasted = 0; wasted < 20000;) wasted = wasted + 1;';
  return withText(files, 'norm.rms', replacing(normLine, `${waste}\n  ${normLine}`));
}

/** A report with figures of another machine: the optimizer reads its benchmark and no more. */
export function measuredReport(): Report {
  const file = join(process.cwd(), 'test/fixtures/reports/qwen3-0-6b.json');
  return Report.parse(JSON.parse(readFileSync(file, 'utf8')));
}

function taskOf({ catalog }: AgentSubject) {
  return async (prepared: PreparedEngine, contractId: string, previous: string) => {
    const { constraints, model } = prepared.request;
    return buildContractTask({
      ...{ selection: prepared.selection, failureModes: catalog.failureModes },
      ...{ platform: prepared.platform, constraints, facts: model.facts, tokenizer: model.tokenizer },
      ...{ contractId, configHeader: configForAgents(prepared), findings: [], previous, sourceFiles: [] },
    });
  };
}

/** One step of the optimizer, whose model answers with this text of norm_rms.cpp. */
export async function propose(
  subject: AgentSubject,
  reply: Reply,
  options: Pick<OptimizeOptions, 'folder' | 'agentFiles' | 'report'> & Partial<OptimizeOptions>,
): Promise<OptimizeOutcome> {
  const scripted = await openScriptedModel({ replies: () => reply });
  try {
    return await optimizeOnce({
      ...{ prepared: subject.prepared, catalog: subject.catalog, makeTask: taskOf(subject) },
      ...{ earlier: [], model: scripted.model, runSeed: 4, baseline: false, budgetSeconds: 15 },
      ...{ cacheFolder: sharedCache, sandbox: 'auto', signal: new AbortController().signal },
      ...{ onDetail: () => {}, onNote: () => {} },
      ...options,
    });
  } finally {
    await scripted.close();
  }
}

export function fileReply(text: string): Reply {
  return { kind: 'files', files: [{ path: 'norm_rms.cpp', text }] };
}
