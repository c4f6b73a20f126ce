// An engine of known speed: speaks the harness protocol on fds 3 and 4 and sleeps as long as it is told. Its next token
// depends on every id it has read. Arguments: milliseconds per prompt token, milliseconds per step, honest | cheats | dies.
import { readSync, writeSync } from 'node:fs';

const [promptMs, stepMs, manner] = [Number(process.argv[2]), Number(process.argv[3]), process.argv[4]];
const vocabulary = 17;
const slots = new Map();

function retry(action) {
  for (;;) {
    try {
      return action();
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0.2);
    }
  }
}

function readExactly(length) {
  const buffer = Buffer.alloc(length);
  for (let at = 0; at < length; ) {
    const got = retry(() => readSync(3, buffer, at, length - at));
    if (got === 0) process.exit(0);
    at += got;
  }
  return buffer;
}

function send(opcode, sequence, payload) {
  const header = Buffer.alloc(16);
  header.writeUInt32LE(0x3148494d, 0);
  header.writeUInt16LE(1, 4);
  header.writeUInt16LE(opcode, 6);
  header.writeUInt32LE(sequence, 8);
  header.writeUInt32LE(payload.length, 12);
  const bytes = Buffer.concat([header, payload]);
  for (let at = 0; at < bytes.length; ) at += retry(() => writeSync(4, bytes, at));
}

function pause(ms) {
  if (ms > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const words = (...values) => Buffer.from(new Uint32Array(values).buffer);
// Token 3 is never the best one.
const logitsOf = (state) =>
  Float32Array.from({ length: vocabulary }, (_, token) => (token === 3 ? -20 : 10 * Math.sin(state * 0.37 + token * 1.7)));
const argmax = (logits) => logits.indexOf(Math.max(...logits));
const read = (state, ids) => ids.reduce((sum, id) => (sum * 31 + id + 1) % 1009, state);

let decodes = 0;

function decode(opcode, sequence, order, first, steps) {
  decodes += 1;
  if (manner === 'dies' && decodes > 2) process.exit(9);
  let tokens = first;
  let logits = [];
  for (let step = 0; step < steps; step++) {
    pause(stepMs);
    logits = order.map((slot, i) => {
      slots.set(slot, read(slots.get(slot), [tokens[i]]));
      return logitsOf(slots.get(slot));
    });
    // The cheat answers at once with tokens that it did not compute.
    tokens = logits.map((row) => (manner === 'cheats' ? 3 : argmax(row)));
    send(opcode | 0x8000, sequence, words(step, ...tokens));
  }
  send(opcode | 0x8100, sequence, Buffer.concat([words(steps), ...logits.map((row) => Buffer.from(row.buffer))]));
}

for (;;) {
  const header = readExactly(16);
  const [opcode, sequence] = [header.readUInt16LE(6), header.readUInt32LE(8)];
  const bytes = readExactly(header.readUInt32LE(12));
  if (opcode === 1) {
    const hello = { protocol: 1, name: 'fake', threads: 1, max_context: 64, max_batch: 4, vocab_size: vocabulary };
    send(0x8001, sequence, Buffer.from(JSON.stringify({ ...hello, hidden_size: 4, num_layers: 2, tokenizer: false })));
    continue;
  }
  if (opcode === 13) {
    send(0x800d, sequence, Buffer.alloc(0));
    process.exit(0);
  }
  const p = [...new Uint32Array(Uint8Array.from(bytes).buffer)];
  if (opcode === 6) {
    pause(promptMs * p[1]);
    slots.set(p[0], read(0, p.slice(2)));
    const logits = logitsOf(slots.get(p[0]));
    send(0x8006, sequence, Buffer.concat([words(argmax(logits)), Buffer.from(logits.buffer)]));
  } else if (opcode === 7) decode(7, sequence, [p[0]], [p[1]], p[2]);
  else decode(12, sequence, p.slice(1, 1 + p[0]).map((_, i) => i), p.slice(1, 1 + p[0]), p.at(-1));
}
