import { z } from 'zod';
import { EngineChannel, EngineFailure } from './engine-channel.ts';
import { decodeU32, encodeU32, type Frame, type OperationName, opcodes } from './protocol-frames.ts';
import { parseJson, rows } from './reply-payloads.ts';
import type { SandboxedCommand } from './sandboxed-process.ts';

export const Hello = z.object({
  protocol: z.literal(1),
  name: z.string().max(200),
  threads: z.int().min(1),
  max_context: z.int().min(1),
  max_batch: z.int().min(1),
  vocab_size: z.int().min(1),
  hidden_size: z.int().min(1),
  num_layers: z.int().min(1),
  tokenizer: z.boolean(),
});
export type Hello = z.infer<typeof Hello>;

export const Loaded = z.object({
  tensors: z.array(
    z.object({ name: z.string(), dtype: z.string(), shape: z.array(z.int().min(0)), reads: z.int().min(0) }),
  ),
  weight_bytes: z.number().min(0),
  kv_bytes: z.number().min(0),
});
export type Loaded = z.infer<typeof Loaded>;

const Finished = z.object({
  finish_reason: z.enum(['stop', 'length', 'eos']),
  text: z.string(),
  ids: z.array(z.int().min(0)),
});

/** Token choice of a generate request; names as on the engine's command line. */
export interface GenerateRequest {
  readonly prompt_ids?: readonly number[];
  readonly prompt?: string;
  readonly max_tokens: number;
  readonly temperature?: number;
  readonly top_k?: number;
  readonly top_p?: number;
  readonly min_p?: number;
  readonly repetition_penalty?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  readonly ignore_eos?: boolean;
}

/** Times are performance.now() of this process, in ms. */
export interface Timed {
  readonly sentAt: number;
  readonly receivedAt: number;
}
export interface Prefilled extends Timed {
  readonly argmax: number;
  readonly logits: Float32Array;
}
export interface Decoded extends Timed {
  readonly argmax: readonly number[];
  /** When each step's frame arrived. */
  readonly stepTimes: readonly number[];
  readonly logits: Float32Array;
}
export interface BatchDecoded extends Timed {
  /** [step][slot] */
  readonly argmax: readonly (readonly number[])[];
  readonly stepTimes: readonly number[];
  /** One row per slot. */
  readonly logits: readonly Float32Array[];
}
export interface Generated extends z.infer<typeof Finished>, Timed {
  readonly chunks: readonly { readonly id: number; readonly bytes: Buffer; readonly receivedAt: number }[];
}

export interface EngineOptions extends SandboxedCommand {
  /** For one request; load and long runs may be given their own. */
  readonly timeoutMs?: number;
}

/** A running engine (or a peer driver that speaks the same protocol). Every method may throw EngineFailure. */
export class EngineClient {
  readonly channel: EngineChannel;
  private readonly timeoutMs: number;
  private greeting: Hello | undefined;

  constructor(options: EngineOptions) {
    this.channel = new EngineChannel(options);
    this.timeoutMs = options.timeoutMs ?? 120_000;
  }

  private async call(
    operation: OperationName,
    payload: Uint8Array,
    options: { readonly stepOpcode?: number; readonly lastOpcode?: number; readonly timeoutMs?: number } = {},
  ) {
    return this.channel.request({
      operation,
      opcode: opcodes[operation],
      payload,
      timeoutMs: this.timeoutMs,
      ...options,
    });
  }

  private async single(operation: OperationName, payload: Uint8Array, timeoutMs?: number) {
    const { sentAt, frames } = await this.call(
      operation,
      payload,
      timeoutMs === undefined ? {} : { timeoutMs },
    );
    const last = frames[0] as Frame;
    return { sentAt, receivedAt: last.receivedAt, payload: last.payload };
  }

  async hello(): Promise<Hello> {
    const { payload } = await this.single('hello', Buffer.alloc(0));
    this.greeting = parseJson('hello', Hello, payload);
    return this.greeting;
  }

  private async sizes(): Promise<Hello> {
    return this.greeting ?? (await this.hello());
  }

  async load(folder: string, timeoutMs?: number): Promise<Loaded> {
    const { payload } = await this.single('load', Buffer.from(folder, 'utf8'), timeoutMs);
    return parseJson('load', Loaded, payload);
  }

  /** One row per id. `chunks` are the lengths fed as one forward call each; default all in one. */
  async logits(ids: readonly number[], chunks: readonly number[] = [ids.length]): Promise<Float32Array[]> {
    const request = encodeU32(chunks.length, ...chunks, ids.length, ...ids);
    const { payload } = await this.single('logits', request);
    return rows('logits', payload, ids.length, (await this.sizes()).vocab_size);
  }

  /** [2 * layers + 2] states of [ids][hidden]. */
  async trace(ids: readonly number[]): Promise<Float32Array[]> {
    const { payload } = await this.single('trace', encodeU32(ids.length, ...ids));
    const { hidden_size, num_layers } = await this.sizes();
    return rows('trace', payload, 2 * num_layers + 2, ids.length * hidden_size);
  }

  /** Per sequence, one row of logits per id. */
  async batch(sequences: readonly (readonly number[])[]): Promise<Float32Array[][]> {
    const lengths = sequences.map((ids) => ids.length);
    const request = encodeU32(sequences.length, ...lengths, ...sequences.flat());
    const { payload } = await this.single('batch', request);
    const total = lengths.reduce((sum, length) => sum + length, 0);
    const all = rows('batch', payload, total, (await this.sizes()).vocab_size);
    return lengths.map((length) => all.splice(0, length));
  }

  async prefill(slot: number, ids: readonly number[], timeoutMs?: number): Promise<Prefilled> {
    const reply = await this.single('prefill', encodeU32(slot, ids.length, ...ids), timeoutMs);
    const logits = rows(
      'prefill',
      reply.payload.subarray(4),
      1,
      (await this.sizes()).vocab_size,
    )[0] as Float32Array;
    return { ...times(reply), argmax: reply.payload.readUInt32LE(0), logits };
  }

  async decode(slot: number, firstToken: number, steps: number, timeoutMs?: number): Promise<Decoded> {
    const reply = await this.steps('decode', encodeU32(slot, firstToken, steps), steps, 1, timeoutMs);
    return {
      ...reply,
      argmax: reply.argmax.map((row) => row[0] as number),
      logits: reply.logits[0] as Float32Array,
    };
  }

  async batchDecode(
    firstTokens: readonly number[],
    steps: number,
    timeoutMs?: number,
  ): Promise<BatchDecoded> {
    const request = encodeU32(firstTokens.length, ...firstTokens, steps);
    return this.steps('batchDecode', request, steps, firstTokens.length, timeoutMs);
  }

  private async steps(
    operation: 'decode' | 'batchDecode',
    request: Uint8Array,
    steps: number,
    slots: number,
    timeoutMs?: number,
  ): Promise<BatchDecoded> {
    const { vocab_size } = await this.sizes();
    const { sentAt, frames } = await this.call(operation, request, {
      stepOpcode: opcodes[operation] | 0x8000,
      lastOpcode: opcodes[operation] | 0x8100,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    const last = frames.at(-1) as Frame;
    const stepFrames = frames.slice(0, -1);
    if (stepFrames.length !== steps || stepFrames.some((frame) => frame.payload.length !== 4 * (1 + slots))) {
      throw new EngineFailure(
        'malformed',
        operation,
        `${stepFrames.length} step frames for ${steps} steps, or of a wrong size`,
      );
    }
    return {
      sentAt,
      receivedAt: last.receivedAt,
      argmax: stepFrames.map((frame) => [...decodeU32(frame.payload).subarray(1)]),
      stepTimes: stepFrames.map((frame) => frame.receivedAt),
      logits: rows(operation, last.payload.subarray(4), slots, vocab_size),
    };
  }

  async poison(): Promise<void> {
    await this.single('poison', Buffer.alloc(0));
  }

  async encode(
    text: string | Uint8Array,
    flags: { readonly addSpecial: boolean; readonly parseSpecial: boolean },
  ): Promise<number[]> {
    const bits = (flags.addSpecial ? 1 : 0) | (flags.parseSpecial ? 2 : 0);
    const { payload } = await this.single('encode', Buffer.concat([Buffer.from([bits]), Buffer.from(text)]));
    return [...decodeU32(payload)];
  }

  /** The bytes that each id releases when the ids are streamed. */
  async decodeText(ids: readonly number[], flags: { readonly skipSpecial: boolean }): Promise<Buffer[]> {
    const request = Buffer.concat([Buffer.from([flags.skipSpecial ? 1 : 0]), encodeU32(...ids)]);
    const { payload } = await this.single('decodeText', request);
    const chunks: Buffer[] = [];
    let at = 0;
    while (at + 4 <= payload.length) {
      const end = at + 4 + payload.readUInt32LE(at);
      chunks.push(payload.subarray(at + 4, end));
      at = end;
    }
    if (at !== payload.length || chunks.length !== ids.length) {
      throw new EngineFailure('malformed', 'decode_text', `${chunks.length} chunks for ${ids.length} ids`);
    }
    return chunks;
  }

  async generate(request: GenerateRequest, timeoutMs?: number): Promise<Generated> {
    const { sentAt, frames } = await this.call('generate', Buffer.from(JSON.stringify(request), 'utf8'), {
      stepOpcode: 0x800b,
      lastOpcode: 0x810b,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    const last = frames.at(-1) as Frame;
    const chunks = frames.slice(0, -1).map(({ payload, receivedAt }) => {
      if (payload.length < 4) throw new EngineFailure('malformed', 'generate', 'a token frame has no id');
      return { id: payload.readUInt32LE(0), bytes: payload.subarray(4), receivedAt };
    });
    return { ...parseJson('generate', Finished, last.payload), sentAt, receivedAt: last.receivedAt, chunks };
  }

  /** Asks the engine to exit and waits until it did. */
  async quit(): Promise<{ readonly exitCode: number | null; readonly peakRssBytes: number }> {
    await this.single('quit', Buffer.alloc(0), 10_000).catch((error: unknown) => {
      if (!(error instanceof EngineFailure)) throw error;
    });
    const timer = setTimeout(() => this.channel.kill(), 5_000);
    const end = await this.channel.ended;
    clearTimeout(timer);
    return { exitCode: end.exitCode, peakRssBytes: end.peakRssBytes };
  }

  kill(): void {
    this.channel.kill();
  }
}

export function startEngine(options: EngineOptions): EngineClient {
  return new EngineClient(options);
}

function times(reply: Timed): Timed {
  return { sentAt: reply.sentAt, receivedAt: reply.receivedAt };
}
