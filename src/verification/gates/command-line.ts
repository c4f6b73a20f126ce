import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../../model/report.ts';
import { escapeOutput } from '../engine-channel.ts';
import { type EngineSession, type GateContext, makeFinding } from '../gate-context.ts';
import { binaryFor } from '../gate-place.ts';
import { withoutHostPaths } from '../host-paths.ts';
import { differenceOf, firstDifference } from '../measures.ts';
import { checkpointPaths } from '../open-engine.ts';
import type { GenerateRequest } from '../protocol-client.ts';
import type { Random } from '../random.ts';
import { type ProcessEnd, runSandboxed } from '../sandboxed-process.ts';

type Run = (args: readonly string[]) => Promise<ProcessEnd>;

const owner = 'interface.cli';

function fail(message: string, evidence: Finding['evidence'] = {}): Finding {
  return makeFinding('text', owner, message, evidence);
}

/** Runs the engine's binary as a person would; it may write nothing but the scratch folder. */
function commandLine(context: GateContext, scratch: string): Run {
  const binary = binaryFor(context)!;
  const { memory, threads } = context.engine.constraints.hardware;
  return (args) =>
    runSandboxed({
      sandbox: context.toolchain.sandbox,
      command: [binary, ...args],
      readOnlyPaths: [binary, ...checkpointPaths(context.checkpointFolder)],
      scratch,
      devices: context.toolchain.cuda?.deviceFiles ?? [],
      limits: {
        wallSeconds: 600,
        cpuSeconds: 600 * threads,
        memoryBytes: 3 * memory,
        processes: threads + 16,
        fileBytes: 2 ** 30,
      },
      ...(context.toolchain.signal === undefined ? {} : { signal: context.toolchain.signal }),
    });
}

/** Each is a mistake that must be told before anything is loaded: exit code 2 and a message. */
async function checkUsage(run: Run, folder: string): Promise<Finding[]> {
  const mistakes: readonly (readonly string[])[] = [
    [],
    ['--ids', '1'],
    [folder],
    [folder, 'another', '--ids', '1'],
    [folder, '--ids'],
    [folder, '--ids', '1,x'],
    [folder, '--ids', '1', '--prompt', 'a'],
    [folder, '--ids', '1', '--nonsense', '1'],
    [folder, '--ids', '1', '--temperature', '-1'],
    [folder, '--ids', '1', '--top-p', '2'],
    [folder, '--ids', '1', '--max-tokens', '-1'],
    [folder, '--ids', '1', '--stop', ''],
  ];
  const findings: Finding[] = [];
  for (const args of mistakes) {
    const end = await run(args);
    if (end.exitCode === 2 && end.stderr.length > 0) continue;
    const shown = args.map((word) => (word === folder ? 'MODEL' : JSON.stringify(word))).join(' ');
    const wanted = 'exit code 2 and a message on stderr';
    const got = `exit code ${end.exitCode ?? end.signal}, ${end.stderr.length} bytes on stderr`;
    const message = `engine ${shown}: exit code ${end.exitCode ?? end.signal}; expected 2 with a message`;
    findings.push(fail(message, { wanted, got }));
  }
  const help = await run(['--help']);
  if (help.exitCode !== 0 || !help.stdout.toString('utf8').includes('--max-tokens'))
    findings.push(
      fail('--help does not list the options with exit code 0', {
        wanted: 'exit code 0 and the options on stdout, --max-tokens among them',
        got: `exit code ${help.exitCode ?? help.signal}, ${escapeOutput(help.stdout.toString('utf8'), 200)}`,
      }),
    );
  const missing = await run([`${folder}-missing`, '--ids', '1']);
  if (missing.exitCode !== 1 || !missing.stderr.toString('utf8').includes('-missing')) {
    findings.push(
      fail('a MODEL that does not exist is not refused by its name with exit code 1', {
        wanted: 'exit code 1 and the name on stderr',
        got: `exit code ${missing.exitCode ?? missing.signal}, ${escapeOutput(withoutHostPaths(missing.stderr.toString('utf8'), [folder]), 200)}`,
      }),
    );
  }
  return findings;
}

function words(request: GenerateRequest): string[] {
  const options = Object.entries(request).flatMap(([name, value]) => {
    if (name === 'ignore_eos') return value === true ? ['--ignore-eos'] : [];
    if (name === 'prompt_ids') return ['--ids', (value as number[]).join(',')];
    if (name === 'stop') return (value as string[]).flatMap((stop) => ['--stop', stop]);
    return [`--${name.replaceAll('_', '-')}`, String(value)];
  });
  return options;
}

/** The same request by both entrances must give the same text. */
async function checkSameText(
  run: Run,
  folder: string,
  session: EngineSession,
  request: GenerateRequest,
): Promise<Finding[]> {
  const { text } = await session.generate(request);
  const end = await run([folder, ...words(request)]);
  const printed = end.stdout.toString('utf8');
  const wanted = request.max_tokens === 0 ? '' : `${text}\n`;
  if (end.exitCode === 0 && (printed === wanted || (request.max_tokens === 0 && printed.trim() === '')))
    return [];
  const what = Object.keys(request)
    .filter((name) => name !== 'prompt_ids')
    .join(', ');
  const evidence = {
    exit: end.exitCode,
    wanted: escapeOutput(text.slice(0, 200)),
    got: escapeOutput(printed.slice(0, 200)),
  };
  return [
    fail(`the command line prints another text than the protocol for a request with ${what}`, evidence),
  ];
}

async function checkLogitsFile(
  run: Run,
  folder: string,
  session: EngineSession,
  ids: readonly number[],
  scratch: string,
): Promise<Finding[]> {
  const file = join(scratch, 'logits.f32');
  const end = await run([folder, '--ids', ids.join(','), '--max-tokens', '0', '--logits', file]);
  if (end.exitCode !== 0 || !existsSync(file))
    return [fail(`--logits ends with exit code ${end.exitCode ?? end.signal} and no file`)];
  const bytes = readFileSync(file);
  const wanted = await session.logits(ids);
  const width = wanted[0]!.length;
  if (bytes.length !== ids.length * width * 4)
    return [fail(`--logits writes ${bytes.length} bytes; expected ${ids.length * width * 4}`)];
  const values = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const rows = ids.map((_, row) => values.subarray(row * width, (row + 1) * width));
  const place = firstDifference(wanted, rows);
  return place === null ? [] : [fail('--logits differ from the logits of the protocol', differenceOf(place))];
}

/** After `generate` the slot counts as empty: what is decoded next begins at position 0. */
async function checkEmptyAfterwards(
  session: EngineSession,
  request: GenerateRequest,
  token: number,
): Promise<Finding[]> {
  await session.poison();
  const fresh = await session.decode(0, token, 2);
  await session.generate(request);
  const after = await session.decode(0, token, 2);
  if (firstDifference([fresh.logits], [after.logits]) === null) return [];
  return [
    makeFinding(
      'text',
      'harness.protocol',
      'after generate, slot 0 is not empty: decoding goes on behind the text',
    ),
  ];
}

/** The engine's own command line, against the same engine through the protocol. */
export async function checkCommandLine(
  context: GateContext,
  session: EngineSession,
  random: Random,
): Promise<Finding[]> {
  if (binaryFor(context) === undefined) return [];
  const folder = context.checkpointFolder;
  const scratch = mkdtempSync(join(context.scratchFolder, 'cli-'));
  const run = commandLine(context, scratch);
  try {
    const room = Math.max(2, Math.min(6, context.engine.constraints.serving.max_context - 2));
    const prompt_ids = random.ids(Math.min(5, room), context.engine.facts.vocabSize);
    const greedy: GenerateRequest = { prompt_ids, max_tokens: room, ignore_eos: true };
    const sampled = {
      ...greedy,
      temperature: 1.25,
      top_k: 20,
      top_p: 0.9,
      min_p: 0.01,
      repetition_penalty: 1.2,
      seed: 5,
    };
    const { text } = await session.generate(greedy);
    const middle = [...text].slice(1, 3).join('');
    const requests = [
      greedy,
      sampled,
      ...(middle === '' ? [] : [{ ...greedy, stop: ['never there', middle] }]),
    ];
    const findings = await checkUsage(run, folder);
    for (const request of requests) findings.push(...(await checkSameText(run, folder, session, request)));
    findings.push(...(await checkLogitsFile(run, folder, session, prompt_ids, scratch)));
    findings.push(...(await checkEmptyAfterwards(session, greedy, prompt_ids[0]!)));
    return findings;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
