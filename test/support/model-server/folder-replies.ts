import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Question } from './question.ts';
import type { Replies, Reply } from './reply.ts';

/**
 * Answers by contract from a directory: `norm.rms.cpp` is the file for every attempt, `norm.rms.2.cpp` the file from
 * the second attempt on; `.txt` in place of `.cpp` is sent as it stands. `reviewer.norm.rms.txt` is the reviewer's.
 * What the directory doesn't hold is answered by `otherwise`.
 */
export function repliesFromFolder(folder: string, otherwise: Replies): Replies {
  return async (question, signal) => {
    const name = await findReply(folder, question);
    if (name === undefined) return await otherwise(question, signal);
    return toReply(name, await readFile(join(folder, name), 'utf8'), question);
  };
}

/** Of the newest attempt that the directory knows and that isn't later than this one. */
async function findReply(folder: string, { role, contract, attempt }: Question): Promise<string | undefined> {
  const stem = role === 'implementer' ? `${contract}` : `${role}.${contract}`;
  const found = (await readdir(folder)).flatMap((name) => {
    if (!name.startsWith(`${stem}.`)) return [];
    const match = /^(?:(\d+)\.)?(?:cpp|txt)$/.exec(name.slice(stem.length + 1));
    const from = Number(match?.[1] ?? 1);
    return match === null || from > attempt ? [] : [{ name, from }];
  });
  return found.sort((left, right) => right.from - left.from)[0]?.name;
}

function toReply(name: string, text: string, { contract }: Question): Reply {
  if (name.endsWith('.txt')) return { kind: 'text', text };
  return { kind: 'files', files: [{ path: `${contract!.replace(/[.-]/g, '_')}.cpp`, text }] };
}
