import { type GateName, timedGates } from '../model/report.ts';
import type { EngineUnderTest, GateContext } from './gate-context.ts';
import type { Toolchain } from './toolchain.ts';

/** Where a gate has the code of an engine run; nowhere: this machine lacks the device, and no emulation will do. */
export type GatePlace = 'host' | 'device' | 'emulation' | 'nowhere';

/** Where code of an engine runs on this machine, whatever its size. */
export function codePlace(
  engine: Pick<EngineUnderTest, 'onDevice'>,
  { cuda }: Pick<Toolchain, 'cuda'>,
): GatePlace {
  if (!engine.onDevice) return 'host';
  if (cuda === undefined) return 'nowhere';
  return cuda.mode === 'device' ? 'device' : 'emulation';
}

/**
 * The gates static and build compile, so they need no device. Unit gates have small shapes, which emulation can always
 * do; a whole engine in emulation takes minutes for a small model and days for a large one. A clock in emulation would
 * measure the emulation.
 */
export function gatePlace(
  gate: GateName,
  { engine, toolchain, effort }: Pick<GateContext, 'engine' | 'toolchain' | 'effort'>,
): GatePlace {
  if (gate === 'static' || gate === 'build') return 'host';
  const place = codePlace(engine, toolchain);
  if (place !== 'emulation' || gate === 'unit') return place;
  return effort.emulate !== true || timedGates.has(gate) ? 'nowhere' : place;
}

/** The binary that gates start: of an engine for a GPU, the emulated one where there is no GPU. */
export function binaryFor({
  engine,
  toolchain,
  binaries,
}: Pick<GateContext, 'engine' | 'toolchain' | 'binaries'>): string | undefined {
  return codePlace(engine, toolchain) === 'emulation' ? binaries.emulated : binaries.plain;
}
