import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { promisify } from 'node:util';
import { examineEndpoint } from '../adapters/llm/examine-endpoint.ts';
import { openLlmSettings } from '../adapters/llm/open-llm-settings.ts';
import { findLlamaCpp, llamaCppVersion } from '../verification/llama-cpp.ts';
import { type Command, type CommandContext, type CommandInput, optionText } from './command.ts';
import { examineCuda } from './examine-cuda.ts';

const run = promisify(execFile);

export interface Finding {
  readonly name: string;
  readonly status: 'ok' | 'missing' | 'optional-missing';
  readonly found: string;
  readonly needed: string;
}

/** Looks at everything the commands may need. Starts nothing that lasts and changes nothing. */
export async function examineMachine(): Promise<readonly Finding[]> {
  return [
    examineNode(),
    await examineTool(
      'g++',
      ['-dumpfullversion'],
      12,
      'to compile engines: `apt-get install g++` (12 or newer)',
    ),
    await examineTool('git', ['--version'], 2, 'to work with branches: `apt-get install git`'),
    await examineSandbox(),
    await examineTool(
      'cmake',
      ['--version'],
      3,
      'only to build an engine by hand: `apt-get install cmake`',
      true,
    ),
    examineBaseline(),
    await examineCpu(),
    {
      name: 'memory',
      status: 'ok',
      found: `${(totalmem() / 2 ** 30).toFixed(1)} GiB, ${availableParallelism()} cores`,
      needed: '',
    },
  ];
}

function examineNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isEnough = major > 20 || (major === 20 && minor >= 18);
  return {
    name: 'node',
    status: isEnough ? 'ok' : 'missing',
    found: process.versions.node,
    needed: '20.18.1 or newer',
  };
}

async function examineTool(
  name: string,
  args: readonly string[],
  least: number,
  needed: string,
  isOptional = false,
): Promise<Finding> {
  const absent = isOptional ? 'optional-missing' : 'missing';
  try {
    const { stdout } = await run(name, [...args], { timeout: 10_000 });
    const version = /\d+(?:\.\d+)*/.exec(stdout)?.[0] ?? 'unknown version';
    return { name, status: Number.parseInt(version, 10) >= least ? 'ok' : absent, found: version, needed };
  } catch {
    return { name, status: absent, found: 'not found', needed };
  }
}

async function examineSandbox(): Promise<Finding> {
  const needed =
    'to run generated code without network and files: `apt-get install bubblewrap`; without it limits only, and reports say so';
  try {
    await run('bwrap', ['--ro-bind', '/', '/', '--unshare-all', '--proc', '/proc', '--dev', '/dev', 'true'], {
      timeout: 10_000,
    });
    return { name: 'bubblewrap', status: 'ok', found: 'works', needed };
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return {
      name: 'bubblewrap',
      status: 'optional-missing',
      found: isAbsent ? 'not found' : 'installed, but namespaces are not allowed here',
      needed,
    };
  }
}

function examineBaseline(): Finding {
  const isThere = findLlamaCpp() !== undefined;
  return {
    name: 'llama.cpp',
    status: isThere ? 'ok' : 'optional-missing',
    found: isThere ? `${llamaCppVersion.release} (prebuilt package)` : 'not found',
    needed:
      'the baseline: `npm ci` installs it on x86-64 Linux; without it relative goals are "not measured"',
  };
}

async function examineCpu(): Promise<Finding> {
  const needed = 'arch avx2 (default) needs avx2, fma and f16c; use hardware.arch x86-64 elsewhere';
  try {
    const text = await readFile('/proc/cpuinfo', 'utf8');
    const model = /^model name\s*:\s*(.*)$/m.exec(text)?.[1] ?? 'unknown CPU';
    const flags = new Set((/^flags\s*:\s*(.*)$/m.exec(text)?.[1] ?? '').split(' '));
    const hasAvx2 = ['avx2', 'fma', 'f16c'].every((flag) => flags.has(flag));
    const found = `${model}${hasAvx2 ? ', avx2' : ', no avx2'}${flags.has('avx512f') ? ', avx512' : ''}`;
    return { name: 'cpu', status: hasAvx2 ? 'ok' : 'optional-missing', found, needed };
  } catch {
    return { name: 'cpu', status: 'missing', found: 'no /proc/cpuinfo', needed: 'Linux on x86-64' };
  }
}

/** What is missing that no engine can be built without, as lines; empty where nothing is. */
export function describeMissing(findings: readonly Finding[]): readonly string[] {
  return findings
    .filter((finding) => finding.status === 'missing')
    .map((finding) => `${finding.name} ${finding.found}; needed: ${finding.needed}`);
}

function renderFindings(findings: readonly Finding[]): string {
  const marks = { ok: 'ok      ', missing: 'MISSING ', 'optional-missing': 'absent  ' } as const;
  return findings
    .map(
      (finding) =>
        `${marks[finding.status]}${finding.name.padEnd(12)}${finding.found}${finding.status === 'ok' ? '' : `\n                    ${finding.needed}`}`,
    )
    .join('\n');
}

/** The endpoint of the language model, where one is named. */
async function examineModel(input: CommandInput, { config, progress, signal }: CommandContext) {
  const llm = optionText(input, 'llm') ?? config.llm.settings;
  if (llm === undefined) return [];
  progress.start(`Asking ${new URL(llm, 'file:').host || llm}`);
  const model = optionText(input, 'model') ?? config.llm.model;
  const { settings, apiKey } = await openLlmSettings({ llm, model, keyOf: config.llm.keyOf });
  const findings = await examineEndpoint(settings, apiKey, signal);
  progress.end('done');
  return findings;
}

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Say what this machine, and the endpoint of a language model, has and lacks',
  positionals: [],
  options: {
    llm: {
      type: 'string',
      value: 'URL|FILE',
      help: 'also examine this endpoint: base URL, or YAML file with settings (default: METAINFER_LLM)',
    },
    model: {
      type: 'string',
      value: 'NAME',
      help: 'model to ask (default: METAINFER_LLM_MODEL, or the only one there)',
    },
  },
  examples: [
    'npx metainfer doctor',
    'npx metainfer doctor --json',
    'npx metainfer doctor --llm http://localhost:11434/v1 --model qwen3:8b',
  ],
  async run(input, context) {
    const findings = [
      ...(await examineMachine()),
      ...(await examineCuda()),
      ...(await examineModel(input, context)),
    ];
    return {
      exitCode: describeMissing(findings).length === 0 ? 0 : 3,
      data: { findings },
      text: renderFindings(findings),
    };
  },
};
