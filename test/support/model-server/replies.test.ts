import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Catalog, Selection } from '../../../src/model/catalog.ts';
import { SabotageFile } from '../../../src/model/sabotage.ts';
import { openKnowledge } from '../../../src/preparation/knowledge-base.ts';
import { prepareEngine } from '../../../src/preparation/prepare-engine.ts';
import { readConstraintFile, readRequest } from '../../../src/preparation/read-request.ts';
import { repliesFromFolder } from './folder-replies.ts';
import { mutatedText, repliesFromKnowledge } from './knowledge-replies.ts';
import type { Question } from './question.ts';
import { type Replies, renderReply } from './reply.ts';

const folder = mkdtempSync(join(tmpdir(), 'replies-'));
let catalog: Catalog;
let selection: Selection;

beforeAll(async () => {
  const fileName = 'knowledge/examples/tiny-qwen3.yaml';
  catalog = await openKnowledge(folder);
  const place = { fileName, origin: 'command-line', weightsRoot: undefined, catalog } as const;
  const request = await readRequest(await readConstraintFile(fileName), place);
  selection = prepareEngine(request, catalog).selection;
});
afterAll(() => rmSync(folder, { recursive: true }));

function question(contract: string, attempt: number, role: Question['role'] = 'implementer'): Question {
  const prompt = `role: ${role}\n\ncontract: ${contract}\n`;
  const asked = { contract, attempt, role, prompt, number: 1, model: 'test-double', messages: [] };
  return { ...asked, written: '', isJson: false, schema: undefined };
}

async function textOf(replies: Replies, asked: Question): Promise<string> {
  const reply = await replies(asked, new AbortController().signal);
  return `${reply.kind}: ${renderReply(reply, asked)}`;
}

describe('answers of the model server', () => {
  it('are our realizations, attempt by attempt overridden', async () => {
    const edits = [{ find: ' + config::rms_norm_eps', replace: '' }];
    const contracts = { 'norm.rms': ['prose', 'declines', { edits }, 'right'] } as const;
    const replies = repliesFromKnowledge(selection, { contracts });
    expect(await textOf(replies, question('norm.rms', 1))).toMatch(/^text: I would begin/);
    expect(await textOf(replies, question('norm.rms', 2))).toMatch(/^refusal: /);
    expect(await textOf(replies, question('norm.rms', 3))).not.toContain('rms_norm_eps');
    for (const attempt of [4, 9])
      expect(await textOf(replies, question('norm.rms', attempt))).toContain('rms_norm_eps');
    expect(await textOf(replies, question('text.stop', 1))).toContain('path=text_stop.cpp');
    await expect(async () => textOf(replies, question('no.such', 1))).rejects.toThrow('no.such');
  });

  it('can make every mistake of knowledge/sabotage.yaml', async () => {
    const { mutations } = SabotageFile.parse(parse(await readFile('knowledge/sabotage.yaml', 'utf8')));
    for (const entry of mutations) {
      const contract = catalog.contracts.find(({ frontMatter }) => frontMatter.id === entry.contract)!;
      const selected = {
        contract,
        realization: undefined,
        status: 'agent',
        reason: '',
        requires: [],
      } as const;
      const text = mutatedText(selected, entry);
      expect(text).not.toMatch(/^\/\/ (?:applies|requires|replaces):/m);
      expect(contract.realizations.map((realization) => realization.text)).not.toContain(text);
    }
  });

  it('come from a directory by contract and attempt, and from elsewhere where it has none', async () => {
    writeFileSync(join(folder, 'norm.rms.cpp'), 'int first;\n');
    writeFileSync(join(folder, 'norm.rms.3.cpp'), 'int third;\n');
    writeFileSync(join(folder, 'norm.rms.2.txt'), 'Shall I go on?');
    writeFileSync(join(folder, 'reviewer.norm.rms.txt'), 'Looks good.');
    const replies = repliesFromFolder(folder, repliesFromKnowledge(selection));
    expect(await textOf(replies, question('norm.rms', 1))).toBe(
      'files: ```cpp path=norm_rms.cpp\nint first;\n```',
    );
    expect(await textOf(replies, question('norm.rms', 2))).toBe('text: Shall I go on?');
    expect(await textOf(replies, question('norm.rms', 4))).toContain('int third;');
    expect(await textOf(replies, question('norm.rms', 1, 'reviewer'))).toBe('text: Looks good.');
    expect(await textOf(replies, question('position.rope', 1))).toContain('path=position_rope.cpp');
  });
});
