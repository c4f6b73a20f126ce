import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { writeEngine } from '../../src/generation/write-engine.ts';
import { agentsOfFolder } from '../../src/local/agent-claims.ts';
import { inspectFolder, requireTrustedCode } from '../../src/local/foreign-files.ts';
import type { AgentFile } from '../../src/model/agent-work.ts';
import type { Catalog } from '../../src/model/catalog.ts';
import { openKnowledge } from '../../src/preparation/knowledge-base.ts';
import { composePrepared, type PreparedEngine, prepareEngine } from '../../src/preparation/prepare-engine.ts';
import type { Request } from '../../src/preparation/read-request.ts';
import { agentFile, agentFilesFrom } from '../fixtures/agent-files.ts';
import { readExample } from '../fixtures/examples.ts';

const name = 'qwen3-0.6b.yaml';
const noSandbox = { kind: 'none', reason: 'switched off' } as const;
let catalog: Catalog;
let answers: Map<string, AgentFile>;
let root = '';
let folder = '';

beforeAll(async () => {
  catalog = await openKnowledge(mkdtempSync(join(tmpdir(), 'metainfer-claims-')));
  answers = agentFilesFrom(prepareEngine(await readExample(name, catalog), catalog));
});
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'metainfer-claims-'));
  folder = join(root, 'engine');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Writes the engine in which agents wrote these contracts, all of them in zero-reference. */
async function write(mode: string, contracts?: readonly string[], isPartial = false): Promise<Request> {
  const request = await readExample(name, catalog, `mode: ${mode}`);
  const rewritten = new Set(contracts ?? []);
  const prepared = prepareEngine(request, catalog, { agents: { hasModel: true, rewritten } });
  const agentFiles = new Map(
    [...answers].filter(([id]) => contracts === undefined || contracts.includes(id)),
  );
  await writeEngine(composePrepared(prepared, { agentFiles, isPartial }), folder);
  return request;
}

/** As `metainfer verify` and a runner open it: the folder alone says what agents wrote. */
async function open(request: Request): Promise<PreparedEngine> {
  return prepareEngine(request, catalog, { agents: await agentsOfFolder(folder) });
}

async function inspect(request: Request) {
  const { foreign, absent, agents } = await inspectFolder(await open(request), folder);
  return { foreign, absent, agents };
}

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(join(folder, file), change(readFileSync(join(folder, file), 'utf8')));
}

const hash = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');

/** Changes a source and the hash that provenance.yaml states for it. */
function forge(file: string, change: (text: string) => string): void {
  const before = readFileSync(join(folder, file), 'utf8');
  edit(file, change);
  edit('provenance.yaml', (text) => text.replace(hash(before), hash(change(before))));
}

describe('an engine folder in which agents wrote files', () => {
  it('is exactly what it should be, all of it by agents', async () => {
    const { foreign, absent, agents } = await inspect(await write('zero-reference'));
    expect([foreign, absent]).toEqual([[], []]);
    expect(agents).toHaveLength(22);
  });

  it('is exactly what it should be, one file by an agent where knowledge has the part as well', async () => {
    const request = await write('knowledge-first', ['norm.rms']);
    expect(await inspect(request)).toEqual({ foreign: [], absent: [], agents: ['norm_rms.cpp'] });
  });

  it('names what is still to be written', async () => {
    const request = await write('zero-reference', ['norm.rms', 'kv.cache'], true);
    const { foreign, absent, agents } = await inspect(request);
    expect([foreign, agents]).toEqual([[], ['kv_cache.cpp', 'norm_rms.cpp']]);
    expect(absent).toHaveLength(20);
  });

  it('may hold another text of an agent, which is that agent’s and nothing more', async () => {
    const request = await write('zero-reference');
    forge('norm_rms.cpp', (text) => `${text}// longer\n`);
    // The README and provenance count lines: whoever changes a file must have the engine composed again.
    expect((await inspect(request)).foreign).toEqual(['README.md', 'provenance.yaml']);
    answers.set(
      'norm.rms',
      agentFile('norm.rms', 'norm_rms.cpp', `${answers.get('norm.rms')?.text}// longer\n`),
    );
    rmSync(folder, { recursive: true });
    expect((await inspect(await write('zero-reference'))).foreign).toEqual([]);
  });
});

describe('a hostile engine folder', () => {
  it('cannot change a file that no agent wrote', async () => {
    const request = await write('zero-reference');
    forge('norm_rms.h', (text) => `${text}// more\n`);
    forge('CMakeLists.txt', (text) => `${text}execute_process(COMMAND touch /tmp/x)\n`);
    expect((await inspect(request)).foreign).toEqual(
      expect.arrayContaining(['CMakeLists.txt', 'norm_rms.h', 'provenance.yaml']),
    );
  });

  it('cannot call a file of knowledge that it changed a realization', async () => {
    const request = await write('knowledge-first', ['norm.rms']);
    forge('kv_cache.cpp', (text) => `${text}static int more;\n`);
    const { foreign, agents } = await inspect(request);
    expect(foreign).toContain('kv_cache.cpp');
    expect(agents).toEqual(['norm_rms.cpp']);
  });

  it.each([
    ['a file of another name', (text: string) => text.replace('path: norm_rms.cpp', 'path: norm_rms2.cpp')],
    ['a header', (text: string) => text.replace('path: norm_rms.cpp', 'path: norm_rms.h')],
    [
      'a path out of the folder',
      (text: string) => text.replace('path: norm_rms.cpp', 'path: ../norm_rms.cpp'),
    ],
    [
      'another hash',
      (text: string) => text.replace(hash(readFileSync(join(folder, 'norm_rms.cpp'))), '0'.repeat(64)),
    ],
    ['a contract twice', (text: string) => text.replace('contract: kv.cache\n', 'contract: norm.rms\n')],
    [
      'a contract that there is not',
      (text: string) => text.replace('contract: norm.rms\n      version', 'contract: no.such\n      version'),
    ],
    [
      'more keys than there are',
      (text: string) => text.replace('kind: agent', 'kind: agent\n      trusted: true'),
    ],
  ])('is believed nothing where its provenance names %s', async (_, change) => {
    const request = await write('knowledge-first', ['norm.rms', 'kv.cache']);
    forge('norm_rms.cpp', (text) => `${text}// evil\n`);
    expect((await inspect(request)).agents).toContain('norm_rms.cpp');
    edit('provenance.yaml', (text) => {
      expect(change(text)).not.toBe(text);
      return change(text);
    });
    const { foreign, agents } = await inspect(request);
    expect(agents).not.toContain('norm_rms.cpp');
    expect(foreign).toEqual(expect.arrayContaining(['norm_rms.cpp', 'provenance.yaml']));
  });

  it('is believed nothing where its provenance is a link, too large, or no UTF-8', async () => {
    const request = await write('knowledge-first', ['norm.rms']);
    const path = join(folder, 'provenance.yaml');
    const text = readFileSync(path, 'utf8');
    for (const put of [
      () => symlinkSync('/dev/zero', path),
      () => writeFileSync(path, `${text}#${' '.repeat(2 ** 20)}\n`),
      () => writeFileSync(path, Buffer.concat([Buffer.from(text), Buffer.from([0x23, 0xff, 0x0a])])),
    ]) {
      rmSync(path);
      put();
      const { foreign, agents } = await inspect(request);
      expect(agents).toEqual([]);
      expect(foreign).toContain('provenance.yaml');
    }
  });

  it('gains nothing by a source that is a link, too large, or no UTF-8', async () => {
    const request = await write('zero-reference');
    const path = join(folder, 'norm_rms.cpp');
    const state = (text: Buffer) =>
      edit('provenance.yaml', (before) => before.replace(answers.get('norm.rms')!.sha256, hash(text)));
    const before = readFileSync(join(folder, 'provenance.yaml'));
    for (const bytes of [
      Buffer.from(`//${' '.repeat(2 ** 16)}\n`),
      Buffer.concat([readFileSync(path), Buffer.from([0x2f, 0x2f, 0xff, 0x0a])]),
    ]) {
      writeFileSync(path, bytes);
      writeFileSync(join(folder, 'provenance.yaml'), before);
      state(Buffer.from(new TextDecoder().decode(bytes)));
      const { foreign, agents } = await inspect(request);
      expect(agents).not.toContain('norm_rms.cpp');
      expect(foreign).toContain('norm_rms.cpp');
    }
    rmSync(path);
    symlinkSync('/dev/zero', path);
    expect((await inspect(request)).foreign).toContain('norm_rms.cpp');
  });

  it('shows files of its own, whatever they are', async () => {
    const request = await write('zero-reference');
    writeFileSync(join(folder, 'extra.cpp'), 'int main();\n');
    mkdirSync(join(folder, 'sub'));
    expect((await inspect(request)).foreign).toEqual(['extra.cpp', 'sub']);
  });
});

describe('where there is no sandbox', () => {
  it('code of agents does not run, and the message says how to get one', async () => {
    const prepared = await open(await write('knowledge-first', ['norm.rms']));
    await expect(requireTrustedCode(prepared, folder, noSandbox)).rejects.toMatchObject({
      ...{ code: 'SANDBOX_UNAVAILABLE', exitCode: 3 },
      message: expect.stringMatching(
        /language models wrote norm_rms\.cpp .* only under bubblewrap.*apt-get install bubblewrap/,
      ),
    });
  });

  it('names five of many files', async () => {
    const prepared = await open(await write('zero-reference'));
    await expect(requireTrustedCode(prepared, folder, noSandbox)).rejects.toThrow(/ and 17 more in /);
  });

  it('code that knowledge composes does run', async () => {
    const prepared = await open(await write('knowledge-first', []));
    await expect(requireTrustedCode(prepared, folder, noSandbox)).resolves.toBeUndefined();
  });
});
