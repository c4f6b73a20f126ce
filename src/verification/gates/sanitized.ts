import { join } from 'node:path';
import type { Finding } from '../../model/report.ts';
import { EngineFailure } from '../engine-channel.ts';
import {
  contractOfFile,
  drawFor,
  type EngineSession,
  type EngineUnderTest,
  type GateContext,
  makeFinding,
} from '../gate-context.ts';
import { weightFileBytes, writeBrokenCheckpoints } from './broken-checkpoints.ts';

const operationOwners: Readonly<Record<string, string>> = {
  hello: 'harness.protocol',
  load: 'checkpoint.safetensors',
  encode: 'text.tokenizer',
  decodeText: 'text.tokenizer',
  generate: 'text.generation',
};
// Sanitized code is some five times slower and its loads copy all weights.
const sanitizedWeightBytes = 2 ** 28;

/** An engine's crash or silence as a finding: the first frame of its own in a sanitizer's report names the place. */
export function failureFinding(
  engine: EngineUnderTest,
  gate: Finding['gate'],
  failure: EngineFailure,
  during: string,
): Finding {
  const frame = [...failure.message.matchAll(/([\w.-]+\.(?:cpp|h)):(\d+)/g)].find(
    (match) => contractOfFile(engine, match[1]!) !== null,
  );
  const file = frame?.[1] ?? null;
  const contract = contractOfFile(engine, file) ?? operationOwners[failure.operation] ?? 'decoder.model';
  const evidence = {
    operation: failure.operation,
    kind: failure.kind,
    during,
    wanted: `an answer to ${failure.operation}`,
    got: `${failure.kind}: ${failure.message.slice(0, 600)}`,
  };
  const place = { file, line: frame === undefined ? null : Number(frame[2]) };
  return makeFinding(gate, contract, `${during}: ${failure.kind}: ${failure.message}`, evidence, place);
}

async function observe(
  engine: EngineUnderTest,
  during: string,
  work: () => Promise<unknown>,
): Promise<Finding[]> {
  try {
    await work();
    return [];
  } catch (error) {
    if (error instanceof EngineFailure) return [failureFinding(engine, 'build', error, during)];
    throw error;
  }
}

/** Every code path once, on few tokens; a fault ends the process. */
async function exercise(context: GateContext, session: EngineSession): Promise<void> {
  const random = drawFor(context, 'build');
  const { max_context, max_batch } = context.engine.constraints.serving;
  const ids = random.ids(Math.min(12, max_context - 4), context.engine.facts.vocabSize);
  await session.logits(ids, [1, ids.length - 1]);
  await session.trace(ids.slice(0, 3));
  await session.batch(Array.from({ length: Math.min(2, max_batch) }, () => ids.slice(0, 5)));
  await session.poison();
  const { argmax } = await session.prefill(0, ids);
  await session.decode(0, argmax, 3);
  await session.generate({
    prompt_ids: ids.slice(0, 4),
    max_tokens: 3,
    temperature: 0.8,
    top_k: 5,
    top_p: 0.9,
    min_p: 0.01,
    repetition_penalty: 1.1,
    seed: 1,
  });
  if (context.engine.tokenizer.model === 'none') return;
  const text = 'Ünïcode 🙂 text\r\n\t 123456 <|x|> \u0000 e\u0301';
  await session.decodeText(await session.encode(text, { addSpecial: true, parseSpecial: true }), {
    skipSpecial: false,
  });
}

/** A request that the protocol allows but whose content is wrong: an error frame, then business as usual. */
async function checkMalformedPayloads(context: GateContext, session: EngineSession): Promise<Finding[]> {
  const findings: Finding[] = [];
  const hostile: readonly (readonly [string, (session: EngineSession) => Promise<unknown>])[] = [
    ['a negative number of tokens', (engine) => engine.decode(0, 0, -1)],
    ['an unknown slot', (engine) => engine.prefill(2 ** 31, [0])],
    ['chunks of 2^32 - 1 ids', (engine) => engine.logits([0], [2 ** 32 - 1])],
    ['a chunk of no ids', (engine) => engine.logits([0], [0, 1])],
    ['ids out of range for the text', (engine) => engine.decodeText([2 ** 31], { skipSpecial: false })],
    ['a folder that does not exist', (engine) => engine.load('/nonexistent/\u0001')],
  ];
  for (const [name, request] of hostile) {
    await request(session).catch((error: unknown) => {
      if (!(error instanceof EngineFailure)) throw error;
      if (error.kind !== 'refused') findings.push(failureFinding(context.engine, 'build', error, name));
    });
    if (findings.length > 0) break;
  }
  return findings;
}

async function checkBroken(context: GateContext): Promise<Finding[]> {
  const findings: Finding[] = [];
  const broken = writeBrokenCheckpoints(context.checkpointFolder, join(context.scratchFolder, 'broken'));
  for (const { name, folder } of broken) {
    const outcome = await context.openEngine({ build: 'sanitized', folder }).then(
      async (session) => {
        await session.quit();
        return 'accepted' as const;
      },
      (error: unknown) => {
        if (error instanceof EngineFailure) return error;
        throw error;
      },
    );
    if (outcome === 'accepted') {
      const owner = name.startsWith('config') ? 'checkpoint.config' : 'checkpoint.safetensors';
      const evidence = { case: name, wanted: 'a refusal that says what is wrong', got: 'it was accepted' };
      findings.push(makeFinding('build', owner, `a broken checkpoint was accepted: ${name}`, evidence));
    } else if (outcome.kind !== 'refused') {
      findings.push(failureFinding(context.engine, 'build', outcome, `broken checkpoint: ${name}`));
    }
  }
  return findings;
}

/** The sanitized engine on a short script, malformed requests and broken checkpoints. */
export async function runSanitizedChecks(context: GateContext): Promise<Finding[]> {
  const findings: Finding[] = [];
  if (weightFileBytes(context.checkpointFolder) <= sanitizedWeightBytes) {
    findings.push(
      ...(await observe(context.engine, 'sanitized run', async () => {
        const session = await context.openEngine({ build: 'sanitized' });
        try {
          await exercise(context, session);
          findings.push(...(await checkMalformedPayloads(context, session)));
        } finally {
          await session.quit();
        }
      })),
    );
  }
  return [...findings, ...(await checkBroken(context))];
}
