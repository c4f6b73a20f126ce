/**
 * A run that asks a language model, in a process of its own, to be killed: settings, folder of the record and questions
 * come as one line of JSON on stdin; each answer is told as one line on stdout. It ends with its parent.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createFileLedger } from '../../src/adapters/llm/file-ledger.ts';
import { openLanguageModel } from '../../src/adapters/llm/open-language-model.ts';
import type { ModelRequest } from '../../src/model/language-model.ts';
import { LlmSettings } from '../../src/model/llm-settings.ts';

const input = createInterface({ input: process.stdin });
const [line] = await once(input, 'line');
input.once('close', () => process.exit(1));
const { settings, folder, questions } = JSON.parse(line) as {
  settings: unknown;
  folder: string;
  questions: ModelRequest[];
};
const model = openLanguageModel(LlmSettings.parse(settings), {
  apiKey: undefined,
  ledger: createFileLedger(folder),
  limits: { softTokens: 1e9, hardTokens: 1e9, softUsd: null, hardUsd: null },
});
for (const question of questions) {
  const { kind, origin } = await model.ask(question, new AbortController().signal);
  console.log(JSON.stringify({ kind, isRepeated: origin?.isRepeated }));
}
process.exit(0);
