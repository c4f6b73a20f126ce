// An outside answerer for the file-drop mode, as an example: node answer-drop.mjs DROP ANSWERS
// Asked for a file, it gives ANSWERS/<that file>; asked for a review, it finds every clause met. It ends on SIGTERM.
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [drop, answers] = process.argv.slice(2);

setInterval(() => {
  for (const name of readdirSync(drop).filter((entry) => /^\d+-request\.json$/.test(entry))) {
    const request = JSON.parse(readFileSync(join(drop, name), 'utf8'));
    const path = join(drop, request.answer[0]);
    const answer = existsSync(path) ? undefined : answerTo(request);
    if (answer === undefined) continue;
    // Written aside and renamed, so that nobody reads half of it.
    writeFileSync(`${path}.part`, JSON.stringify(answer));
    renameSync(`${path}.part`, path);
  }
}, 100);

function answerTo({ role, contract, messages }) {
  const prompt = messages.map(({ content }) => content).join('\n');
  if (role === 'reviewer') {
    const clauses = [...prompt.matchAll(/^\[([a-z-]+:[^\]\s]+)\] /gm)].map(([, clause]) => clause);
    return { json: { clauses: clauses.map((clause) => ({ clause, verdict: 'met', line: null, reason: '' })) } };
  }
  const path = `${contract.replace(/[.-]/g, '_')}.cpp`;
  const file = join(answers, path);
  return existsSync(file) ? { files: [{ path, text: readFileSync(file, 'utf8') }] } : undefined;
}
