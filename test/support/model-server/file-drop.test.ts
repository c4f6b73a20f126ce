import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createFileLedger } from '../../../src/adapters/llm/file-ledger.ts';
import { openLanguageModel } from '../../../src/adapters/llm/open-language-model.ts';
import { attemptContract } from '../../../src/generation/agents/attempt-contract.ts';
import { buildContractTask } from '../../../src/generation/agents/contract-task.ts';
import { toRepairFinding } from '../../../src/generation/agents/repair-finding.ts';
import { checkContract } from '../../../src/local/agents/check-contract.ts';
import type { RepairFinding } from '../../../src/model/agent-work.ts';
import { LlmSettings } from '../../../src/model/llm-settings.ts';
import { configForAgents } from '../../../src/preparation/prepare-engine.ts';
import { isLacking } from '../../fixtures/needed-tool.ts';
import { type AgentSubject, openSubject } from '../../local/agents/agent-subject.ts';

const root = mkdtempSync(join(tmpdir(), 'file-drop-'));
const freeOfLimits = { softTokens: 1e9, hardTokens: 1e9, softUsd: null, hardUsd: null };
const children: ChildProcess[] = [];
let subject: AgentSubject;
let folders = 0;

beforeAll(async () => {
  subject = await openSubject(root);
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill()) await ended;
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Desk {
  readonly drop: string;
  readonly answers: string;
  readonly baseUrl: string;
}

/** The server as README starts it, over an empty folder or one that was used before. */
async function openDesk(drop = join(root, `drop-${folders++}`), timeout = 60): Promise<Desk> {
  const answers = `${drop}-answers`;
  mkdirSync(answers, { recursive: true });
  const serve = 'test/support/model-server/serve.ts';
  const line = ['--import', 'tsx', serve, '--drop', drop, '--port', '0', '--timeout', String(timeout)];
  const child = spawn(process.execPath, line, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [said] = (await once(child.stdout!, 'data')) as [Buffer];
  return { drop, answers, baseUrl: /http:\/\/\S+/.exec(said.toString())![0] };
}

/** Somebody outside: another program, which knows the folder and nothing of this one. */
function startAnswerer({ drop, answers }: Desk): void {
  const program = 'test/support/model-server/answer-drop.mjs';
  children.push(spawn(process.execPath, [program, drop, answers], { stdio: 'inherit' }));
}

function openModel({ baseUrl }: Desk, ledger: string) {
  // As test/support/README.md has them.
  const written = parse(
    /```yaml\n(base_url:[\s\S]*?)```/.exec(readFileSync('test/support/README.md', 'utf8'))![1]!,
  );
  const settings = { ...written, base_url: baseUrl };
  const record = createFileLedger(join(root, ledger));
  return openLanguageModel(LlmSettings.parse(settings), {
    ...{ apiKey: undefined, limits: freeOfLimits, ledger: record },
  });
}

async function attempt(
  desk: Desk,
  number: number,
  findings: readonly RepairFinding[],
  previous: string | null,
) {
  const { prepared, catalog, toolchain, cacheFolder, files } = subject;
  const { constraints, model: subjectModel } = prepared.request;
  const { signal } = new AbortController();
  const selected = prepared.selection.contracts.find(
    ({ contract }) => contract.frontMatter.id === 'norm.rms',
  )!;
  const task = buildContractTask({
    ...{ selection: prepared.selection, failureModes: catalog.failureModes, platform: prepared.platform },
    ...{ constraints, facts: subjectModel.facts, tokenizer: subjectModel.tokenizer },
    ...{ contractId: 'norm.rms', configHeader: configForAgents(prepared), findings, previous },
  });
  return await attemptContract(task, {
    model: openModel(desk, 'contract'),
    ...{ review: true, isLastAttempt: false, attempt: number, round: 1, phase: 'operations', signal },
    check: async (file) => {
      const agentFiles = new Map([...files, ['norm.rms', file]]);
      const found = await checkContract({
        ...{ prepared, agentFiles, contract: 'norm.rms', toolchain, cacheFolder, signal, runSeed: 5 },
      });
      return found.map((finding) => toRepairFinding(finding, selected.contract));
    },
  });
}

describe('the file-drop mode', () => {
  it.skipIf(isLacking('bubblewrap'))(
    'lets an outside program complete a contract: file, gates, repair, review',
    async () => {
      const desk = await openDesk();
      const right = subject.files.get('norm.rms')!.text;
      const wrong = right.replace(' + config::rms_norm_eps', '');
      expect(wrong).not.toBe(right);
      writeFileSync(join(desk.answers, 'norm_rms.cpp'), wrong);
      startAnswerer(desk);
      const first = await attempt(desk, 1, [], null);
      expect(first.outcome).toBe('rejected');
      expect(first.findings[0]).toMatchObject({ source: 'unit', contract: 'norm.rms' });
      writeFileSync(join(desk.answers, 'norm_rms.cpp'), right);
      const second = await attempt(desk, 2, first.findings, wrong);
      expect(second).toMatchObject({ outcome: 'accepted', findings: [], notes: [] });
      expect(second.file?.text).toBe(right);
      const requests = readdirSync(desk.drop).filter((name) => name.endsWith('-request.json'));
      const asked = requests.map((name) => JSON.parse(readFileSync(join(desk.drop, name), 'utf8')));
      expect(asked.map(({ number, role, contract }) => [number, role, contract])).toEqual([
        ['0001', 'implementer', 'norm.rms'],
        ['0002', 'implementer', 'norm.rms'],
        ['0003', 'reviewer', 'norm.rms'],
      ]);
    },
  );

  it('takes a text as a model would write it, and complains about what it cannot use', async () => {
    const desk = await openDesk();
    const asked = ask(desk, 'text');
    await until(() => existsSync(join(desk.drop, '0001-request.json')));
    writeFileSync(join(desk.drop, '0001-answer.json'), '{"file": "norm_rms.cpp"}');
    await until(() => existsSync(join(desk.drop, '0001-complaint.txt')));
    const text = 'Here it is.\n\n```cpp path=norm_rms.cpp\nint x;\n```\n';
    writeFileSync(join(desk.drop, '0001-answer.txt'), text);
    expect(await asked).toMatchObject({ kind: 'files', files: [{ path: 'norm_rms.cpp', text: 'int x;\n' }] });
  });

  it('ends where nobody answers in time, and says which file was not answered', async () => {
    const desk = await openDesk(undefined, 1);
    await expect(ask(desk, 'nobody')).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: expect.stringContaining('nobody answered 0001-request.json within 1 s'),
    });
  });

  it('keeps the number of a question that nobody answered, also when the server starts again', async () => {
    const desk = await openDesk();
    const gone = new AbortController();
    const broken = ask(desk, 'first-time', gone.signal).catch((error: Error) => error.name);
    await until(() => existsSync(join(desk.drop, '0001-request.json')));
    gone.abort();
    expect(await broken).toBe('AbortError');
    const next = await openDesk(desk.drop);
    const asked = ask(next, 'second-time');
    await pause(500);
    expect(readdirSync(desk.drop)).toEqual(['0001-request.json']);
    writeFileSync(join(desk.drop, '0001-answer.json'), '{"refusal": "I would rather not."}');
    expect(await asked).toMatchObject({ kind: 'refusal', reason: 'declined' });
  });
});

function ask(desk: Desk, ledger: string, signal: AbortSignal = new AbortController().signal) {
  return openModel(desk, ledger).ask(
    {
      ...{ role: 'implementer', contract: 'norm.rms', phase: 'operations', attempt: 1 },
      system: 'role: implementer\nWrite one file.',
      sections: [{ title: 'The contract', text: 'contract: norm.rms', priority: 0 }],
      expects: { kind: 'files', paths: ['norm_rms.cpp'], maxBytes: 65_536 },
    },
    signal,
  );
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(50);
}
