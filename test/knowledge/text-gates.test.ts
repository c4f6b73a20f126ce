import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Gate } from '../../src/model/contract.ts';
import type { ModelFacts, TokenizerFacts } from '../../src/model/model-facts.ts';
import type { ReferenceOps } from '../../src/model/reference.ts';
import { compareOutputs } from '../../src/verification/gates/unit-compare.ts';
import { drawCase } from '../../src/verification/gates/unit-inputs.ts';
import { Random } from '../../src/verification/random.ts';
import { decodeResults, encodeCase } from '../../src/verification/shim-cases.ts';
import { buildDriver, type Part } from './text-driver.ts';

const root = fileURLToPath(new URL('../../knowledge/contracts', import.meta.url));
const noTokenizer: TokenizerFacts = { model: 'none', preTokenizer: 'none', normalizer: 'none' };
const utf8: Part = 'text-utf8/portable';
const json: Part = 'format-json/portable';

interface GateUnderTest {
  readonly folder: string;
  readonly parts: readonly Part[];
  readonly tokenizer?: TokenizerFacts;
}

const preTokenizers = (['gpt2', 'smollm2', 'qwen2', 'llama3'] as const).map(
  (preTokenizer): GateUnderTest => ({
    folder: 'text-pre-tokenizer',
    parts: [utf8, 'text-unicode/portable', json, `text-pre-tokenizer/${preTokenizer}`],
    tokenizer: { model: 'byte_level_bpe', preTokenizer, normalizer: 'none' },
  }),
);
const normalizers = (['nfc', 'none'] as const).map(
  (normalizer): GateUnderTest => ({
    folder: 'text-normalizer',
    parts: [utf8, 'text-unicode/portable', json, `text-normalizer/${normalizer}`],
    tokenizer: { model: 'byte_level_bpe', preTokenizer: 'gpt2', normalizer },
  }),
);
const gates: readonly GateUnderTest[] = [
  { folder: 'text-utf8', parts: [utf8] },
  { folder: 'text-unicode', parts: ['text-unicode/portable'] },
  { folder: 'text-bpe', parts: [json, 'text-bpe/portable'] },
  { folder: 'text-stop', parts: ['text-stop/portable'] },
  { folder: 'sampling-token', parts: ['sampling-token/portable'] },
  ...preTokenizers,
  ...normalizers,
];

/** Runs every case of a gate through the harness's own shim, sanitized, and compares as the unit gate does. */
async function runGate({ folder, parts, tokenizer = noTokenizer }: GateUnderTest): Promise<string[]> {
  const gate = Gate.parse(parse(readFileSync(join(root, folder, 'gate.yaml'), 'utf8')));
  const program = buildDriver(join(root, folder, 'shim.cpp'), parts, { shim: true, sanitize: true });
  const scratch = mkdtempSync(join(tmpdir(), 'metainfer-gate-'));
  const drawn = gate.cases.map((unit) => drawCase(unit, new Map(), new Random(1, unit.id)));
  writeFileSync(join(scratch, 'cases'), Buffer.concat(drawn.map(encodeCase)));
  execFileSync(program, [join(scratch, 'cases'), join(scratch, 'results')], { stdio: 'pipe' });
  const results = decodeResults(readFileSync(join(scratch, 'results')), drawn.length);
  const { ops } = (await import(join(root, folder, 'reference.ts'))) as { ops: ReferenceOps };
  return gate.cases.flatMap((unit, index) => {
    const { inputs, params, op } = drawn[index]!;
    const wanted = ops[op]!({ inputs, params, facts: {} as ModelFacts, weightFormat: 'f32', tokenizer });
    const check = {
      contract: gate.contract,
      caseId: unit.id,
      model: 'test',
      tolerance: gate.tolerance,
      exact: true,
      inputs: '',
    };
    return compareOutputs(check, wanted, results[index]!).map((finding) => `${unit.id}: ${finding.message}`);
  });
}

describe('the unit gates of the text contracts', () => {
  it.each(gates)('$folder passes with $parts', async (gate) => {
    expect(await runGate(gate)).toEqual([]);
  });
});
