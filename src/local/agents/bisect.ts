import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { renderConfigHeader } from '../../generation/config-header.ts';
import { writeEngine } from '../../generation/write-engine.ts';
import type { AgentFile } from '../../model/agent-work.ts';
import type { Catalog } from '../../model/catalog.ts';
import { type GateName, type GateResult, gateNames } from '../../model/report.ts';
import { composePrepared, type PreparedEngine, prepareEngine } from '../../preparation/prepare-engine.ts';
import { verifyEngine } from '../../verification/verify-engine.ts';
import { engineUnderTest, type JudgeOptions } from '../judge-engine.ts';
import { provideWeights } from '../local-weights.ts';
import { openToolchain } from '../toolchain.ts';
import { requireSandbox } from './check-contract.ts';

export interface Bisection extends Omit<JudgeOptions, 'onNote'> {
  readonly prepared: PreparedEngine;
  readonly catalog: Catalog;
  readonly agentFiles: ReadonlyMap<string, AgentFile>;
  /** Likeliest first. */
  readonly suspects: readonly string[];
  /** Of the red report. */
  readonly gates: readonly GateResult[];
  readonly runSeed: number;
}

/** Of the whole engine, but for those that take a clock. */
const wholeGates: readonly GateName[] = gateNames.slice(
  gateNames.indexOf('trace'),
  gateNames.indexOf('bench'),
);

/**
 * Puts the realization of knowledge in the place of each suspect, one at a time, and runs the first red gate again:
 * where it turns green, that suspect was the cause. Undefined where none of them can be told this way: in zero-reference
 * mode nothing of knowledge may come near what agents write, and elsewhere not every contract has a realization.
 */
export async function bisectByRealizations(bisection: Bisection): Promise<string | undefined> {
  const { prepared, suspects, gates } = bisection;
  const red = wholeGates.find((gate) =>
    gates.some((result) => result.gate === gate && result.status === 'failed'),
  );
  if (red === undefined || prepared.request.constraints.generation.mode === 'zero-reference')
    return undefined;
  for (const suspect of suspects) {
    bisection.signal.throwIfAborted();
    const other = withRealization(bisection, suspect);
    if (other !== undefined && (await isGreen(bisection, other, suspect, red))) return suspect;
  }
  return undefined;
}

/** The engine with knowledge's realization of one contract; undefined where there is none for this target. */
function withRealization(
  { prepared, catalog, agentFiles }: Bisection,
  suspect: string,
): PreparedEngine | undefined {
  const { request } = prepared;
  const { constraints } = request;
  const rewritten = new Set([...agentFiles.keys()].filter((contract) => contract !== suspect));
  // What the mode takes from knowledge is told one by one here.
  const generation = { ...constraints.generation, mode: 'knowledge-first' as const };
  const agents = { hasModel: true, rewritten };
  const other = prepareEngine({ ...request, constraints: { ...constraints, generation } }, catalog, {
    agents,
  });
  const selected = other.selection.contracts.find(({ contract }) => contract.frontMatter.id === suspect);
  const isWhole = other.selection.contracts.every(
    ({ contract, status }) => status !== 'agent' || agentFiles.has(contract.frontMatter.id),
  );
  return selected?.status === 'realization' && isWhole ? other : undefined;
}

async function isGreen(
  bisection: Bisection,
  other: PreparedEngine,
  suspect: string,
  red: GateName,
): Promise<boolean> {
  bisection.onDetail(`${red} with the realization of ${suspect}`);
  const toolchain = await openToolchain(other, undefined, bisection);
  requireSandbox(toolchain);
  const checkpointFolder = await provideWeights(other.request, {
    ...bisection,
    onProgress: bisection.onDetail,
  });
  await mkdir(bisection.cacheFolder, { recursive: true });
  const scratch = await mkdtemp(join(bisection.cacheFolder, 'bisect-'));
  try {
    const folder = join(scratch, 'engine');
    await writeEngine(composePrepared(other, { agentFiles: bisection.agentFiles }), folder);
    const { gates } = await verifyEngine({
      ...{ engine: engineUnderTest(other, folder), checkpointFolder, toolchain, renderConfigHeader },
      ...{ runSeed: bisection.runSeed, checkProvenance: async () => [] },
      ...{ gates: ['build', red], effort: { sanitize: false } },
    });
    return gates.every(({ status }) => status === 'passed');
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
