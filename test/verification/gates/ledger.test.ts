import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EngineSession } from '../../../src/verification/gate-context.ts';
import { writeBrokenCheckpoints } from '../../../src/verification/gates/broken-checkpoints.ts';
import { kindOf, runLedgerGate } from '../../../src/verification/gates/ledger.ts';
import { inspectCheckpoint } from '../../../src/verification/inspect-checkpoint.ts';
import { writePerturbedCopy } from '../../../src/verification/perturbed-copy.ts';
import type { Loaded } from '../../../src/verification/protocol-client.ts';
import { indexCheckpoint, openCheckpoint } from '../../../src/verification/safetensors.ts';
import { fakeContext, fakeEngine, fakeFacts } from '../fake-session.ts';

const checkpoint = 'test/fixtures/checkpoints/qwen2';
let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'metainfer-ledger-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const places = [...indexCheckpoint(checkpoint).tensors.values()];
const account = places.map(({ name, format, shape }) => ({
  name,
  dtype: format.toUpperCase(),
  shape: [...shape],
  reads: 1,
}));

/** An engine that reads real files: its one logit is the sum of the tensors it cares about. */
function contextWith(tensors: Loaded['tensors'], ignores = /^$/) {
  return fakeContext(
    {},
    {
      checkpointFolder: checkpoint,
      scratchFolder: root,
      perturb: (tensor, ids, folder) => writePerturbedCopy(checkpoint, tensor, ids, folder),
      openEngine: async ({ folder = checkpoint } = {}) => {
        const { name: _, ...limits } = { name: 'x', max_context: 40, max_batch: 2 };
        const opened = openCheckpoint(folder);
        const sum = places
          .filter((place) => !ignores.test(place.name))
          .reduce(
            (total, place) =>
              total +
              opened
                .read(place.name, 0, place.bytes / (place.format === 'f32' ? 4 : 2), 'f32')
                .reduce((a, b) => a + b, 0),
            0,
          );
        opened.close();
        return {
          hello: async () => ({
            protocol: 1,
            name: 'x',
            threads: 1,
            ...limits,
            vocab_size: fakeFacts.vocabSize,
            hidden_size: fakeFacts.hiddenSize,
            num_layers: fakeFacts.numLayers,
            tokenizer: false,
          }),
          load: async () => ({ tensors, weight_bytes: 1, kv_bytes: 1 }),
          logits: async () => [Float32Array.of(sum)],
          quit: async () => ({ exitCode: 0, peakRssBytes: 0 }),
        } as unknown as EngineSession;
      },
    },
  );
}

test('an engine that lists and uses every tensor passes', async () => {
  const outcome = await runLedgerGate(contextWith(account));
  expect(outcome.findings).toEqual([]);
  expect(outcome.measurements?.kinds).toBe(new Set(places.map(({ name }) => kindOf(name))).size);
});

test('a tensor that is not listed, read twice or listed wrongly is a finding with its name', async () => {
  const wrong = [
    { ...account[1]!, reads: 2 },
    { ...account[2]!, shape: [1] },
    ...account.slice(3),
    { ...account[3]!, name: 'model.ghost' },
  ];
  const { findings } = await runLedgerGate(contextWith(wrong));
  const messages = findings.map((finding) => finding.message).join('\n');
  for (const part of [
    'not listed by the engine',
    'read 2 times',
    'listed with shape',
    'model.ghost: listed, but',
  ]) {
    expect(messages).toContain(part);
  }
});

test('a bias that is listed but has no effect is found from outside', async () => {
  const { findings } = await runLedgerGate(contextWith(account, /k_proj\.bias/));
  expect(findings.map((finding) => finding.contract)).toEqual(['attention.block']);
  expect(findings[0]?.message).toMatch(/k_proj\.bias changes no logit/);
});

test('an engine that announces other sizes is refused', async () => {
  const context = contextWith(account);
  const engine = { ...fakeEngine, facts: { ...fakeFacts, vocabSize: 14 } };
  expect((await runLedgerGate({ ...context, engine })).findings[0]?.contract).toBe('harness.protocol');
});

test('every broken checkpoint is broken, and no other copy of the weights is made', () => {
  const made = writeBrokenCheckpoints(checkpoint, join(root, 'broken'));
  expect(made.length).toBeGreaterThanOrEqual(20);
  for (const { name, folder } of made) {
    expect(existsSync(folder)).toBe(true);
    expect([name, inspectCheckpoint(folder).problems.length]).not.toEqual([name, 0]);
  }
});
