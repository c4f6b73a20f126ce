import { countParameters } from '../model/parameter-count.ts';
import type { Effort, EngineUnderTest } from './gate-context.ts';
import { codePlace } from './gate-place.ts';
import type { Toolchain } from './toolchain.ts';

// Multiply-adds that the float64 oracle does in well under a minute on two cores.
const oracleBudget = 2e10;
const maxOracleTokens = 1024;
const minOracleTokens = 24;

/**
 * Multiply-adds of one token up to which a whole engine runs in host emulation: gates ask for some thousands of tokens,
 * and a core emulates tens of millions of multiply-adds a second. Qwen3-0.6B needs a hundred times as many.
 */
const emulatedMultiplyAdds = 5e6;

/** Work that fits the model: hundreds of positions for small ones, tens for large ones and in emulation. */
export function defaultEffort(engine: EngineUnderTest, toolchain: Pick<Toolchain, 'cuda'>): Effort {
  const { matmul } = countParameters(engine.facts);
  const { max_context } = engine.constraints.serving;
  if (codePlace(engine, toolchain) === 'emulation') {
    return {
      ...{ oracleTokens: Math.min(48, max_context), endAttempts: 4, processes: 2 },
      // Past one forward call, whose last row and the first of the next are edges.
      engineTokens: engine.maxRows + 16,
      ...{ variants: true, sanitize: true, emulate: matmul <= emulatedMultiplyAdds },
    };
  }
  const affordable = Math.floor(oracleBudget / matmul);
  const oracleTokens = Math.max(minOracleTokens, Math.min(maxOracleTokens, affordable));
  return {
    oracleTokens: Math.min(oracleTokens, max_context),
    processes: 3,
    variants: true,
    sanitize: true,
  };
}
