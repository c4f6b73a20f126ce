import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { indexCheckpoint } from '../safetensors.ts';
import { encodeHeader } from '../safetensors-writer.ts';

/** A checkpoint that no engine may accept, and what is wrong with it. */
export interface BrokenCheckpoint {
  readonly name: string;
  readonly folder: string;
}

interface HeaderEntry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}
type Header = Record<string, HeaderEntry>;

const metadataFiles = ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json'];

/** One file with this header and as many data bytes as it asks for, without writing them. */
function writeSparse(folder: string, header: string | Buffer, dataBytes: number): void {
  const path = join(folder, 'model.safetensors');
  const json = Buffer.from(header);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  writeFileSync(path, Buffer.concat([length, json]));
  truncateSync(path, 8 + json.length + Math.max(0, dataBytes));
}

/** The real header as JSON, all shards in one: names, shapes and formats are right, the weights are zeros. */
function readHeader(source: string): { header: Header; dataBytes: number } {
  const tensors = [...indexCheckpoint(source).tensors.values()];
  const encoded = encodeHeader(tensors.map(({ name, format, shape }) => ({ name, format, shape })));
  const { __metadata__, ...header } = JSON.parse(encoded.subarray(8).toString('utf8')) as Header;
  return { header, dataBytes: Math.max(...Object.values(header).map((entry) => entry.data_offsets[1])) };
}

/** The header with some entries replaced; `undefined` drops one. */
function patch(header: Header, entries: Record<string, HeaderEntry | undefined>): string {
  return JSON.stringify({ ...header, ...entries });
}

/** Writes every broken checkpoint under `target`; no weights are copied. */
export function writeBrokenCheckpoints(source: string, target: string): BrokenCheckpoint[] {
  const { header, dataBytes } = readHeader(source);
  const whole = JSON.stringify(header);
  const config = JSON.parse(readFileSync(join(source, 'config.json'), 'utf8')) as Record<string, unknown>;
  const made: BrokenCheckpoint[] = [];
  const make = (name: string, write: (folder: string) => void) => {
    const folder = join(target, name.replaceAll(' ', '-'));
    mkdirSync(folder, { recursive: true });
    for (const file of metadataFiles)
      if (existsSync(join(source, file))) copyFileSync(join(source, file), join(folder, file));
    write(folder);
    made.push({ name, folder });
  };
  const withHeader = (name: string, text: string, bytes = dataBytes) =>
    make(name, (folder) => writeSparse(folder, text, bytes));
  const withConfig = (name: string, text: string) =>
    make(name, (folder) => {
      writeSparse(folder, whole, dataBytes);
      writeFileSync(join(folder, 'config.json'), text);
    });
  make('no weights', () => {});
  make('empty file', (folder) => writeFileSync(join(folder, 'model.safetensors'), ''));
  make('header longer than the file', (folder) =>
    writeFileSync(join(folder, 'model.safetensors'), Buffer.from('ffffffffffffff7f7b7d', 'hex')),
  );
  make('a link to nowhere', (folder) => symlinkSync('/nonexistent', join(folder, 'model.safetensors')));
  withHeader('header is not JSON', `${whole.slice(0, -2)}`);
  withHeader('header is deeply nested', '['.repeat(200_000));
  withHeader('truncated data', whole, Math.floor(dataBytes / 2));
  withHeader('bytes after the data', whole, dataBytes + 16);
  const [name, entry] = Object.entries(header).find(([, { shape }]) => shape.length === 2)!;
  const [from, to] = entry.data_offsets;
  const withEntry = (what: string, change: Partial<HeaderEntry>) =>
    withHeader(what, patch(header, { [name]: { ...entry, ...change } }));
  const surplus = { dtype: 'F32', shape: [1], data_offsets: [dataBytes, dataBytes + 4] } as const;
  withHeader('missing tensor', patch(header, { [name]: undefined }));
  withHeader('surplus tensor', patch(header, { 'model.surplus.weight': surplus }), dataBytes + 4);
  withEntry('offsets beyond the file', { data_offsets: [dataBytes, dataBytes + to - from] });
  withEntry('offsets backwards', { data_offsets: [to, from] });
  withEntry('negative offset', { data_offsets: [-4, to] });
  withEntry('huge shape', { shape: [2 ** 40, 2 ** 40] });
  withEntry('wrong shape', { shape: [...entry.shape, 1] });
  withEntry('unknown format', { dtype: 'I64' });
  withConfig('config is not JSON', '{"hidden_size": ');
  withConfig(
    'config of another size',
    JSON.stringify({ ...config, num_hidden_layers: Number(config.num_hidden_layers) + 1 }),
  );
  withConfig('config with an unknown activation', JSON.stringify({ ...config, hidden_act: 'gelu' }));
  withConfig('config with an unknown key', JSON.stringify({ ...config, attention_multiplier: 2 }));
  return made;
}

/** Bytes of all weight files of a checkpoint. */
export function weightFileBytes(folder: string): number {
  return indexCheckpoint(folder).files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
}
