/**
 * The real harness with another knowledge base: `node --import tsx harness-with-knowledge.ts <knowledge folder> judge …`.
 * What the runner's `metainfer judge` does, so that a broken realization is judged for what it is.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { judgeRequest, writeJudgement } from '../../src/local/judge-request.ts';
import { openKnowledge } from '../../src/preparation/knowledge-base.ts';

const text = { type: 'string' } as const;
const [knowledge, , engine, ...rest] = process.argv.slice(2);
const { values } = parseArgs({
  args: rest,
  options: {
    'request-id': text,
    'engine-commit': text,
    'constraints-sha256': text,
    baseline: text,
    labels: text,
    runner: text,
    output: text,
  },
});
const cacheFolder = process.env.METAINFER_CACHE!;
let log = '';
const say = (line: string): void => {
  log += `${line}\n`;
};
const judgement = await judgeRequest(
  resolve(engine!),
  {
    requestId: values['request-id']!,
    engineCommit: values['engine-commit']!,
    constraintsSha256: values['constraints-sha256']!,
    harnessCommit: null,
    runner: { name: values.runner!, labels: JSON.parse(values.labels!) },
  },
  {
    catalog: () => openKnowledge(cacheFolder, knowledge),
    weightsRoot: process.env.METAINFER_WEIGHTS,
    baseline: false,
    runSeed: 7,
    ...{ cacheFolder, sandbox: 'auto', signal: new AbortController().signal, onDetail: say, onNote: say },
  },
);
await writeJudgement(resolve(values.output!), judgement, log);
process.exit(judgement.exitCode);
