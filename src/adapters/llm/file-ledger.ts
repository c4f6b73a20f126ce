import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type CompletionLedger, type RecordedCall, spendingOf } from '../../model/completion-ledger.ts';
import { AppError } from '../../model/errors.ts';
import { agentRoles } from '../../model/language-model.ts';
import { TokenUsage } from '../../model/spending.ts';

const Call = z.strictObject({
  key: z.string(),
  role: z.enum(agentRoles),
  contract: z.string().nullable(),
  phase: z.string(),
  model: z.string(),
  messages: z.array(z.strictObject({ role: z.string(), content: z.string() })),
  reservedTokens: z.number(),
  reservedUsd: z.number().nullable(),
  startedAt: z.string(),
  finished: z
    .strictObject({
      text: z.string(),
      finishReason: z.string(),
      usage: TokenUsage.nullable(),
      usd: z.number().nullable(),
      seconds: z.number(),
      failure: z.string().nullable(),
      fingerprint: z.string().nullable(),
    })
    .nullable(),
});

interface StoredCall {
  readonly path: string;
  call: RecordedCall;
}

/**
 * The record of a run of the command line: one JSON file for each call, numbered as they began. A file is on disk, and
 * whole, before the function that writes it resolves, so nothing is lost however the process ends. One process at a time.
 */
export function createFileLedger(folder: string): CompletionLedger {
  let loading: Promise<StoredCall[]> | undefined;
  const load = () => {
    loading ??= readFolder(folder);
    return loading;
  };
  const latest = (calls: readonly StoredCall[], key: string) =>
    calls.filter(({ call }) => call.key === key).at(-1);
  const list = async () => (await load()).map(({ call }) => call);
  return {
    list,
    find: async (key) => latest(await load(), key)?.call,
    spent: async () => spendingOf(await list()),
    leftToday: async () => null,
    async begin(call) {
      const calls = await load();
      const number = String(calls.length + 1).padStart(5, '0');
      const path = join(folder, `${number}-${call.role}-${call.key.slice(0, 12)}.json`);
      const stored = { path, call: { ...call, finished: null } };
      // Before it is written: the next call must not get the same number.
      calls.push(stored);
      await writeWhole(folder, path, stored.call);
    },
    async finish(key, outcome) {
      const stored = latest(await load(), key);
      if (stored === undefined) throw new AppError('INTERNAL', `The call ${key} was never begun.`);
      const call = { ...stored.call, finished: { ...outcome, fingerprint: outcome.fingerprint ?? null } };
      await writeWhole(folder, stored.path, call);
      stored.call = call;
    },
  };
}

async function readFolder(folder: string): Promise<StoredCall[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const names = (await readdir(folder)).sort();
  // Left by a process that was killed while writing: what they were to replace still stands.
  await Promise.all(names.filter((name) => name.endsWith('.part')).map((name) => rm(join(folder, name))));
  const calls: StoredCall[] = [];
  for (const name of names.filter((name) => name.endsWith('.json'))) {
    const path = join(folder, name);
    calls.push({ path, call: readCall(path, await readFile(path, 'utf8')) });
  }
  return calls;
}

/** A call that cannot be read may not be left out: it was paid. */
function readCall(path: string, text: string): RecordedCall {
  try {
    return Call.parse(JSON.parse(text));
  } catch (cause) {
    throw new AppError(
      'RUN_STATE_INVALID',
      `${path} is no record of a call to a language model: it was changed or damaged. Put it back as it was, or remove the folder of the run to begin anew; what was spent is then forgotten.`,
      { cause },
    );
  }
}

/** What could not be read again may not be written: a run would end with it. */
function render(call: RecordedCall): string {
  const text = JSON.stringify(call, null, 1);
  const checked = Call.safeParse(JSON.parse(text));
  if (checked.success) return `${text}\n`;
  const { path, message } = checked.error.issues[0]!;
  throw new AppError('INTERNAL', `A call cannot be recorded: ${path.join('.')}: ${message}.`, {
    cause: checked.error,
  });
}

async function writeWhole(folder: string, path: string, call: RecordedCall): Promise<void> {
  const text = render(call);
  const partial = `${path}.part`;
  const file = await open(partial, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partial, path);
  const entries = await open(folder, 'r');
  try {
    await entries.sync();
  } finally {
    await entries.close();
  }
}
