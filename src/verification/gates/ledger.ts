import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../../model/report.ts';
import { drawFor, type GateContext, type GateOutcome, makeFinding } from '../gate-context.ts';
import { firstDifference } from '../measures.ts';
import type { Loaded } from '../protocol-client.ts';
import { indexCheckpoint } from '../safetensors.ts';
import { checkConfigKeys } from './config-keys.ts';

/** `model.layers.3.mlp.up_proj.weight` → `model.layers.*.mlp.up_proj.weight`. */
export function kindOf(tensor: string): string {
  return tensor.replace(/\.\d+\./g, '.*.');
}

/** The contract that reads a kind of tensor. */
export function ownerOfTensor(tensor: string): string {
  if (/embed_tokens/.test(tensor)) return 'embedding.token';
  if (/lm_head/.test(tensor)) return 'head.logits';
  if (/self_attn|input_layernorm/.test(tensor)) return 'attention.block';
  if (/mlp|post_attention_layernorm/.test(tensor)) return 'mlp.gated';
  return 'decoder.model';
}

/** The engine's own account against the headers of the files: every tensor, once, with its shape. */
function checkAccount(context: GateContext, loaded: Loaded): Finding[] {
  const findings: Finding[] = [];
  const add = (tensor: string, message: string, wanted: string, got: string) => {
    const evidence = { tensor, wanted, got };
    findings.push(makeFinding('ledger', 'checkpoint.safetensors', `${tensor}: ${message}`, evidence));
  };
  const { tensors } = indexCheckpoint(context.checkpointFolder);
  const listed = new Map<string, Loaded['tensors'][number]>();
  for (const entry of loaded.tensors) {
    if (listed.has(entry.name)) add(entry.name, 'listed twice', 'listed once', 'listed twice');
    listed.set(entry.name, entry);
    if (!tensors.has(entry.name)) {
      add(entry.name, 'listed, but in no file of the checkpoint', 'not listed', 'listed');
    }
  }
  for (const [name, place] of tensors) {
    const entry = listed.get(name);
    if (entry === undefined) add(name, 'not listed by the engine', 'listed', 'not listed');
    else if (entry.reads !== 1) {
      add(name, `read ${entry.reads} times instead of once`, 'read once', `read ${entry.reads} times`);
    } else if (entry.shape.join() !== place.shape.join())
      add(
        name,
        `listed with shape [${entry.shape}] instead of [${place.shape}]`,
        `[${place.shape}]`,
        `[${entry.shape}]`,
      );
    else if (entry.dtype.toLowerCase() !== place.format)
      add(name, `listed as ${entry.dtype} instead of ${place.format}`, place.format, entry.dtype);
  }
  return findings;
}

/** A tensor whose change leaves every logit as it was is not read, whatever the engine says. */
async function checkInfluence(
  context: GateContext,
  ids: readonly number[],
  before: readonly Float32Array[],
): Promise<{ findings: Finding[]; kinds: number }> {
  const random = drawFor(context, 'ledger');
  const kinds = new Map<string, string[]>();
  for (const name of indexCheckpoint(context.checkpointFolder).tensors.keys()) {
    // A tied checkpoint's second table: changed, it is refused, which inspectCheckpoint and the engine both do.
    if (name === 'lm_head.weight' && context.engine.facts.tiedHead) continue;
    kinds.set(kindOf(name), [...(kinds.get(kindOf(name)) ?? []), name]);
  }
  const findings: Finding[] = [];
  for (const [kind, names] of kinds) {
    const tensor = random.pick(names);
    const folder = join(context.scratchFolder, 'perturbed');
    await context.perturb(tensor, ids, folder);
    const session = await context.openEngine({ folder });
    try {
      if (firstDifference(before, await session.logits(ids)) === null) {
        const message = `${kind}: changing ${tensor} changes no logit, so the engine doesn't use it`;
        const evidence = { tensor, wanted: 'other logits', got: 'the same bits in every logit' };
        findings.push(makeFinding('ledger', ownerOfTensor(tensor), message, evidence));
      }
    } finally {
      await session.quit();
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return { findings, kinds: kinds.size };
}

/** Every tensor is read exactly once: by the engine's account, and proved from outside. */
export async function runLedgerGate(context: GateContext): Promise<GateOutcome> {
  const { engine } = context;
  const { max_context, max_batch } = engine.constraints.serving;
  const ids = drawFor(context, 'ledger').ids(Math.min(6, max_context), engine.facts.vocabSize);
  const session = await context.openEngine();
  try {
    const hello = await session.hello();
    const told = [hello.vocab_size, hello.hidden_size, hello.num_layers, hello.max_context, hello.max_batch];
    const wanted = [
      engine.facts.vocabSize,
      engine.facts.hiddenSize,
      engine.facts.numLayers,
      max_context,
      max_batch,
    ];
    if (told.join() !== wanted.join()) {
      const message = `the greeting announces ${told.join(', ')} (vocabulary, hidden, layers, context, batch) instead of ${wanted.join(', ')}`;
      const evidence = { wanted: wanted.join(', '), got: told.join(', ') };
      return { findings: [makeFinding('ledger', 'harness.protocol', message, evidence)] };
    }
    const loaded = await session.load(context.checkpointFolder);
    const account = checkAccount(context, loaded);
    const before = await session.logits(ids);
    const { findings, kinds } = await checkInfluence(context, ids, before);
    const config = await checkConfigKeys(context);
    return {
      findings: [...account, ...findings, ...config.findings],
      measurements: {
        tensors: loaded.tensors.length,
        kinds,
        config_keys: config.keys,
        weight_bytes: loaded.weight_bytes,
        kv_bytes: loaded.kv_bytes,
      },
    };
  } finally {
    await session.quit();
  }
}
