import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sharedCache } from '../fixtures/test-cache.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const contracts = join(here, '../../knowledge/contracts');
const shims = join(here, '../../src/verification/shim');
const flags = ['-std=c++20', '-O2', '-Wall', '-Wextra', '-Werror', '-mavx2', '-mfma', '-mf16c'];

/** `contract folder/realization` files, e.g. `text-stop/portable`. */
export type Part = `${string}/${string}`;

const objects = new Map<string, string>();
let workspace: string | undefined;

/** One folder with config.h and every contract's header; a composed engine has them side by side too. */
function openWorkspace(): string {
  if (workspace !== undefined) return workspace;
  const folder = mkdtempSync(join(tmpdir(), 'metainfer-text-'));
  for (const contract of readdirSync(contracts)) {
    for (const file of readdirSync(join(contracts, contract))) {
      // A contract that stands for another has a header of the other's name and content.
      if (file === `${contract.replaceAll('-', '_')}.h`)
        symlinkSync(join(contracts, contract, file), join(folder, file));
    }
  }
  writeFileSync(join(folder, 'config.h'), configHeader);
  symlinkSync(join(shims, 'shim.h'), join(folder, 'shim.h'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  workspace = folder;
  return folder;
}

/** Constants small enough to reach every edge of the generation loop in a few steps. */
const configHeader = `#pragma once
#include <array>
#include <string_view>
namespace config {
inline constexpr bool on_device = false;
inline constexpr int vector_width = 8, num_heads = 2, num_kv_heads = 1, head_dim = 4, hidden_size = 8, num_layers = 1;
inline constexpr int max_context = 12, max_rows = 4, max_batch = 1, vocab_size = 32;
inline constexpr std::array<int, 1> layer_windows{0};
inline constexpr std::array<int, 2> eos_token_ids{30, 31};
}  // namespace config
`;

function compileObject(source: string, sanitize: boolean): string {
  const known = objects.get(`${source}:${sanitize}`);
  if (known !== undefined) return known;
  const folder = openWorkspace();
  const extra = sanitize ? ['-O1', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'] : [];
  const object = join(sharedCache, 'text-objects', `${nameObject(source, extra)}.o`);
  if (!existsSync(object)) {
    const partial = join(folder, `${objects.size}.o`);
    execFileSync('g++', [...flags, ...extra, '-I', folder, '-c', source, '-o', partial], { stdio: 'pipe' });
    mkdirSync(join(sharedCache, 'text-objects'), { recursive: true });
    // Another worker may make the same one: whoever is last replaces it by the same bytes.
    renameSync(partial, object);
  }
  objects.set(`${source}:${sanitize}`, object);
  return object;
}

let headerTexts: string | undefined;
const compilerVersion = execFileSync('g++', ['--version'], { encoding: 'utf8' });

/** By everything that the compiler may read: the source, every header of the workspace, and the flags. */
function nameObject(source: string, extra: readonly string[]): string {
  const folder = openWorkspace();
  headerTexts ??= readdirSync(folder)
    .filter((name) => name.endsWith('.h'))
    .sort()
    .map((name) => `${name}\n${readFileSync(join(folder, name), 'utf8')}`)
    .join('\n');
  const hash = createHash('sha256');
  for (const part of [compilerVersion, ...flags, ...extra, headerTexts, readFileSync(source, 'utf8')])
    hash.update(`${Buffer.byteLength(part)}\n${part}`);
  return hash.digest('hex');
}

/** Compiles and links realizations with a driver (beside this file, or absolute) or a contract's shim; returns the program. */
export function buildDriver(
  driver: string,
  parts: readonly Part[],
  options: { readonly sanitize?: boolean; readonly shim?: boolean } = {},
): string {
  const sanitize = options.sanitize ?? false;
  const sources = [...parts.map(sourceOf), isAbsolute(driver) ? driver : join(here, driver)];
  if (options.shim === true) sources.push(join(shims, 'shim-main.cpp'));
  const name = [basename(driver), ...parts, sanitize].join('-').replace(/\W/g, '_');
  const program = join(openWorkspace(), name);
  const extra = sanitize ? ['-fsanitize=address,undefined'] : [];
  const compiled = sources.map((source) => compileObject(source, sanitize));
  execFileSync('g++', [...extra, ...compiled, '-o', program], { stdio: 'pipe' });
  return program;
}

function sourceOf(part: Part): string {
  return join(contracts, `${part.replace('/', '/realizations/')}.cpp`);
}

export function writeTokenizer(tokenizerJson: string): string {
  const folder = mkdtempSync(join(openWorkspace(), 'tokenizer-'));
  writeFileSync(join(folder, 'tokenizer.json'), tokenizerJson);
  return folder;
}

export interface Request {
  readonly op: number;
  readonly flags: number;
  readonly payload: Uint8Array;
}

/** Runs a driver over all requests; throws with what it said where it fails. */
export function runDriver(program: string, args: readonly string[], requests: readonly Request[]): Buffer[] {
  const input = Buffer.concat(
    requests.flatMap(({ op, flags: bits, payload }) => {
      const head = new Uint32Array([op, bits, payload.byteLength]);
      return [Buffer.from(head.buffer), Buffer.from(payload)];
    }),
  );
  const run = spawnSync(program, args, { input, maxBuffer: 1 << 29 });
  if (run.status !== 0)
    throw new Error(`driver ended with ${run.status ?? run.signal}: ${run.stderr.toString()}`);
  const replies: Buffer[] = [];
  for (let at = 0; at < run.stdout.length; ) {
    const bytes = run.stdout.readUInt32LE(at);
    replies.push(run.stdout.subarray(at + 4, at + 4 + bytes));
    at += 4 + bytes;
  }
  return replies;
}

export function encodeRequest(
  text: string,
  options: { addSpecial: boolean; parseSpecial: boolean },
): Request {
  const bits = (options.addSpecial ? 1 : 0) | (options.parseSpecial ? 2 : 0);
  return { op: 1, flags: bits, payload: Buffer.from(text) };
}

export function decodeRequest(ids: readonly number[], skipSpecial: boolean): Request {
  return { op: 2, flags: skipSpecial ? 1 : 0, payload: new Uint8Array(Int32Array.from(ids).buffer) };
}

export function readIds(reply: Buffer): number[] {
  return Array.from({ length: reply.length / 4 }, (_, index) => reply.readInt32LE(4 * index));
}

export function readChunks(reply: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < reply.length; ) {
    const bytes = reply.readUInt32LE(at);
    chunks.push(reply.subarray(at + 4, at + 4 + bytes));
    at += 4 + bytes;
  }
  return chunks;
}

/** The parts of an engine whose tokenizer is byte-level BPE. */
export function byteLevelParts(preTokenizer: string, normalizer: string): Part[] {
  return [
    'text-utf8/portable',
    'text-unicode/portable',
    'format-json/portable',
    'text-bpe/portable',
    `text-normalizer/${normalizer}`,
    `text-pre-tokenizer/${preTokenizer}`,
    'text-tokenizer/byte-level-bpe',
  ];
}

export const sentencePieceParts: Part[] = [
  'text-utf8/portable',
  'format-json/portable',
  'text-bpe/portable',
  'text-tokenizer/sentencepiece-bpe',
];
