import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeEngine } from '../../../src/generation/write-engine.ts';
import { applyEdits } from '../../../src/local/sabotage.ts';
import { buildBinary, openToolchain } from '../../../src/local/toolchain.ts';
import type { AgentFile } from '../../../src/model/agent-work.ts';
import type { Catalog } from '../../../src/model/catalog.ts';
import { openKnowledge } from '../../../src/preparation/knowledge-base.ts';
import {
  composePrepared,
  type PreparedEngine,
  prepareEngine,
} from '../../../src/preparation/prepare-engine.ts';
import { readConstraintFile, readRequest } from '../../../src/preparation/read-request.ts';
import type { Toolchain } from '../../../src/verification/build.ts';
import { type ConstraintChoices, writeConstraintFile } from '../../fixtures/constraint-file.ts';
import { makeTestCache } from '../../fixtures/test-cache.ts';
import { rightText } from '../../support/model-server/knowledge-replies.ts';

/** What was compiled before with the same bytes need not be compiled again by every test. */
export const sharedCache = join(tmpdir(), 'metainfer-test-cache');

/** A target whose contracts are all for agents, and our realizations as what these agents wrote. */
export interface AgentSubject {
  readonly catalog: Catalog;
  /** No contract has a realization. */
  readonly prepared: PreparedEngine;
  readonly files: ReadonlyMap<string, AgentFile>;
  readonly toolchain: Toolchain;
  readonly cacheFolder: string;
}

export async function openSubject(
  root: string,
  choices: Partial<ConstraintChoices> = {},
  mode: 'zero-reference' | 'source-reference' = 'zero-reference',
): Promise<AgentSubject> {
  const cacheFolder = makeTestCache(join(root, 'cache'));
  const catalog = await openKnowledge(cacheFolder);
  const model = { path: join(process.cwd(), 'test/fixtures/checkpoints/tiny-qwen3') };
  const file = writeConstraintFile(join(root, 'subject.yaml'), { name: 'subject', model, ...choices });
  const request = await readRequest(await readConstraintFile(file), {
    ...{ fileName: file, origin: 'command-line', weightsRoot: undefined },
    catalog,
  });
  const { constraints } = request;
  const generation = { ...constraints.generation, mode };
  const prepared = prepareEngine({ ...request, constraints: { ...constraints, generation } }, catalog, {
    agents: { hasModel: true },
  });
  const toolchain = await openToolchain(prepared, undefined, {
    ...{ cacheFolder: sharedCache, sandbox: 'auto' },
    signal: new AbortController().signal,
  });
  const files = new Map(
    prepared.selection.contracts
      .filter(({ status }) => status === 'agent')
      .map((selected) => {
        const contract = selected.contract.frontMatter.id;
        const path = selected.contract.header.name.replace(/\.h$/, '.cpp');
        return [contract, agentFile(contract, path, rightText(selected, prepared.selection))];
      }),
  );
  return { catalog, prepared, files, toolchain, cacheFolder };
}

export function agentFile(contract: string, path: string, text: string): AgentFile {
  const sha256 = createHash('sha256').update(text).digest('hex');
  const requestSha256 = createHash('sha256').update(contract).digest('hex');
  return { contract, path, text, sha256, origin: { model: 'test-double', requestSha256, attempt: 1 } };
}

/** The subject's files with one changed. */
export function withText(
  files: ReadonlyMap<string, AgentFile>,
  contract: string,
  change: (text: string) => string,
): ReadonlyMap<string, AgentFile> {
  const file = files.get(contract);
  if (file === undefined) throw new Error(`${contract} is not in the subject`);
  return new Map([...files, [contract, agentFile(contract, file.path, change(file.text))]]);
}

/** One exact edit, as knowledge/sabotage.yaml makes it. */
export function replacing(find: string, replace: string): (text: string) => string {
  const entry = { id: 'test', edits: [{ find, replace }] };
  return (text) => applyEdits(text, entry as unknown as Parameters<typeof applyEdits>[1]);
}

/** The whole engine of these files, written and compiled; its folder and its binary. */
export async function buildSubject(
  { prepared, toolchain }: AgentSubject,
  agentFiles: ReadonlyMap<string, AgentFile>,
  folder: string,
): Promise<{ folder: string; binary: string }> {
  await writeEngine(composePrepared(prepared, { agentFiles }), folder);
  return { folder, binary: await buildBinary(folder, toolchain) };
}
