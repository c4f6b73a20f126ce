import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnostic } from '../diagnostics.ts';
import { contractOfFile, type EngineUnderTest } from '../gate-context.ts';

/** Whoever owes a symbol that is missing, wherever it is used; else whose file the compiler names. */
export function ownerOfDiagnostic(engine: EngineUnderTest, { file, message }: Diagnostic): string | null {
  return ownerOfSymbol(engine, message) ?? contractOfFile(engine, file);
}

/** The contract whose header declares a symbol that the linker misses. */
function ownerOfSymbol(engine: EngineUnderTest, message: string): string | null {
  const name = /undefined reference to [`'](?:[\w<> ]+ )?([A-Za-z_]\w*)/.exec(message)?.[1];
  if (name === undefined) return null;
  const declares = (header: string) =>
    new RegExp(`\\b${name}\\b`).test(readFileSync(join(engine.folder, header), 'utf8'));
  return engine.contracts.find((contract) => declares(contract.header))?.id ?? null;
}
