import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { type JudgeRequest, judgeRequest, writeJudgement } from '../local/judge-request.ts';
import { AppError } from '../model/errors.ts';
import { verdictWords } from '../model/show-verdict.ts';
import { openKnowledge } from '../preparation/knowledge-base.ts';
import { type Command, type CommandContext, type CommandInput, optionText } from './command.ts';
import { judgeOptions, wantsBaseline } from './judge-options.ts';
import { verdictText } from './verdict-text.ts';

function matchingOption(input: CommandInput, name: string, pattern: RegExp, expected: string): string {
  const written = optionText(input, name);
  if (written !== undefined && pattern.test(written)) return written;
  const problem = written === undefined ? 'is missing' : `is ${JSON.stringify(written.slice(0, 100))}`;
  throw new AppError('USAGE', `--${name} ${problem}; expected ${expected}.`);
}

function labelsOption(input: CommandInput): readonly string[] {
  const written = optionText(input, 'labels') ?? '[]';
  try {
    const value: unknown = JSON.parse(written);
    const isList = Array.isArray(value) && value.length <= 50;
    if (isList && value.every((label) => typeof label === 'string' && label.length <= 100)) return value;
  } catch {}
  throw new AppError('USAGE', `--labels is ${written.slice(0, 200)}; expected a JSON list of label names.`);
}

function requestOf(input: CommandInput): JudgeRequest {
  const commit = 'a commit: 40 hexadecimal digits';
  const harness = optionText(input, 'harness-commit');
  return {
    requestId: matchingOption(
      input,
      'request-id',
      /^[0-9a-z-]{8,80}$/,
      '8 to 80 of the characters 0-9, a-z and -',
    ),
    engineCommit: matchingOption(input, 'engine-commit', /^[0-9a-f]{40}$/, commit),
    constraintsSha256: matchingOption(
      input,
      'constraints-sha256',
      /^[0-9a-f]{64}$/,
      '64 hexadecimal digits, as the plan shows them',
    ),
    harnessCommit:
      harness === undefined ? null : matchingOption(input, 'harness-commit', /^[0-9a-f]{40}$/, commit),
    runner: {
      name: (optionText(input, 'runner') ?? 'unnamed').slice(0, 200),
      labels: labelsOption(input),
    },
  };
}

const maxLogLength = 2 ** 20;

/** Everything that is said while judging, with seconds since the start; the newest MiB. */
function startLog(context: CommandContext) {
  const started = performance.now();
  let text = '';
  const add = (line: string): void => {
    text = `${text}${((performance.now() - started) / 1000).toFixed(1).padStart(7)} s  ${line}\n`;
    if (text.length > 2 * maxLogLength) text = text.slice(-maxLogLength);
  };
  return {
    add,
    text: () => text.slice(-maxLogLength),
    options: {
      ...judgeOptions(context),
      onDetail: (line: string) => {
        add(line);
        context.progress.detail(line);
      },
      onNote: (line: string) => {
        add(line);
        context.progress.note(line);
      },
    },
  };
}

export const judgeCommand: Command = {
  name: 'judge',
  summary: 'What a runner does: verify and time the engine of one request',
  positionals: ['<engine>'],
  options: {
    'request-id': { type: 'string', value: 'ID', help: 'goes back in result.json' },
    'engine-commit': { type: 'string', value: 'SHA', help: 'the commit that is checked out' },
    'constraints-sha256': {
      type: 'string',
      value: 'HASH',
      help: 'the engine must be for this constraint file',
    },
    baseline: { type: 'string', value: 'NAME', help: 'llama.cpp (default) or none' },
    output: { type: 'string', short: 'o', value: 'DIR', help: 'for result.json, report.json and log.txt' },
    'harness-commit': { type: 'string', value: 'SHA', help: 'the pinned commit of this program' },
    runner: { type: 'string', value: 'NAME', help: 'name of this runner, for the result' },
    labels: { type: 'string', value: 'JSON', help: 'labels that the job was queued for, as a JSON list' },
  },
  examples: [
    'npx metainfer judge engines/tiny-qwen3 --request-id run-1-1 --engine-commit SHA --constraints-sha256 HASH --output out',
  ],
  async run(input, context) {
    const output = optionText(input, 'output');
    if (output === undefined) throw new AppError('USAGE', '--output is missing; expected a folder.');
    const request = requestOf(input);
    const baseline = wantsBaseline(input);
    const folder = resolve(input.positionals[0]!);
    const log = startLog(context);
    context.progress.start('judge');
    const judgement = await judgeRequest(folder, request, {
      ...log.options,
      catalog: () => openKnowledge(context.config.cacheFolder),
      weightsRoot: context.config.weightsRoot,
      baseline,
      runSeed: randomInt(2 ** 31),
    });
    const { report, result, exitCode } = judgement;
    const text =
      report === null ? `Refused (${result.failure?.code}): ${result.failure?.message}` : verdictText(report);
    log.add(text);
    await writeJudgement(resolve(output), judgement, log.text());
    context.progress.end(report === null ? 'refused' : verdictWords[report.verdict]);
    return { exitCode, data: { result, report }, text };
  },
};
