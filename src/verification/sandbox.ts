import { spawnSync } from 'node:child_process';

/** Where a command runs: under bubblewrap, or under the limits alone. Decided once per run by probeSandbox. */
export interface Sandbox {
  readonly kind: 'bubblewrap' | 'none';
  /** One sentence for the report. */
  readonly reason: string;
}

export interface Limits {
  readonly wallSeconds: number;
  /** Of the whole process tree. */
  readonly cpuSeconds: number;
  /** Resident memory of the whole process tree, polled: RLIMIT_AS breaks AddressSanitizer. */
  readonly memoryBytes: number;
  /** Processes in the tree, polled; RLIMIT_NPROC as well, which the kernel doesn't apply to root. */
  readonly processes: number;
  /** Largest single file that may be written. */
  readonly fileBytes: number;
  /** All files in the scratch folder together, polled: RLIMIT_FSIZE bounds each of them only. */
  readonly scratchBytes: number;
  /** Of stdout and stderr together; more ends the process. */
  readonly outputBytes: number;
  readonly pollMs: number;
}

export const defaultLimits: Limits = {
  wallSeconds: 600,
  cpuSeconds: 1200,
  memoryBytes: 8 * 2 ** 30,
  processes: 64,
  fileBytes: 256 * 2 ** 20,
  scratchBytes: 2 * 2 ** 30,
  outputBytes: 4 * 2 ** 20,
  pollMs: 100,
};

export interface Confinement {
  readonly sandbox: Sandbox;
  /** Files and folders that the command may read, bound at the same path; everything else but /usr is absent. */
  readonly readOnlyPaths: readonly string[];
  /** The one folder it may write; also its working directory. Absent: it can write nothing but /tmp in memory. */
  readonly scratch?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Device files that it may open, for a program that uses a GPU; with none, it sees no device of this machine. */
  readonly devices?: readonly string[];
}

const tmpBytes = 64 * 2 ** 20;
const systemPaths = ['/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ld.so.conf.d', '/etc/alternatives'];
const systemLinks: readonly (readonly [string, string])[] = [
  ['usr/bin', '/bin'],
  ['usr/lib', '/lib'],
  ['usr/lib64', '/lib64'],
];

// Where a GPU's driver looks up the device and the memory near it. Read-only.
const deviceDescriptions = ['/sys/bus/pci', '/sys/devices', '/sys/module'];
const deviceEnvironment: Readonly<Record<string, string>> = {
  // Nothing is compiled when an engine runs, and there is no home folder to keep it in.
  CUDA_CACHE_DISABLE: '1',
  // Where some container runtimes put the driver's libraries; elsewhere the loader knows the place.
  LD_LIBRARY_PATH: '/usr/local/nvidia/lib64',
};

/** All that the command finds in its environment. */
export function environmentOf({ environment, devices = [] }: Confinement): Readonly<Record<string, string>> {
  return { ...(devices.length === 0 ? {} : deviceEnvironment), ...environment };
}

/**
 * Whether bubblewrap works here. `choice` is the operator's: `off` never uses it.
 * A user namespace may be forbidden though the program exists, so it is tried for real.
 */
export function probeSandbox(choice: 'auto' | 'off'): Sandbox {
  if (choice === 'off') return { kind: 'none', reason: 'switched off by the operator' };
  const [program, ...args] = bubblewrap({ sandbox: { kind: 'bubblewrap', reason: '' }, readOnlyPaths: [] });
  const probe = spawnSync(program as string, [...args, '/usr/bin/true'], {
    encoding: 'utf8',
    env: {},
    timeout: 10_000,
  });
  if (probe.error !== undefined) {
    return {
      kind: 'none',
      reason: `bubblewrap does not start: ${(probe.error as NodeJS.ErrnoException).code}`,
    };
  }
  if (probe.status !== 0) {
    const why = probe.stderr.trim().split('\n')[0]?.slice(0, 200);
    return { kind: 'none', reason: `bubblewrap does not work here: ${why ?? 'no message'}` };
  }
  return { kind: 'bubblewrap', reason: 'no network, empty environment, read-only files, another user' };
}

function bubblewrap(confinement: Confinement): string[] {
  const args = ['/usr/bin/bwrap', '--unshare-all', '--unshare-user', '--disable-userns'];
  args.push('--uid', '65534', '--gid', '65534', '--cap-drop', 'ALL', '--hostname', 'sandbox');
  args.push('--die-with-parent', '--new-session', '--clearenv');
  for (const [name, value] of Object.entries(environmentOf(confinement))) args.push('--setenv', name, value);
  args.push('--ro-bind', '/usr', '/usr');
  for (const [target, link] of systemLinks) args.push('--symlink', target, link);
  for (const path of systemPaths) args.push('--ro-bind-try', path, path);
  args.push('--proc', '/proc', '--dev', '/dev', '--size', String(tmpBytes), '--tmpfs', '/tmp');
  const { devices = [] } = confinement;
  for (const path of devices) args.push('--dev-bind-try', path, path);
  for (const path of devices.length === 0 ? [] : deviceDescriptions) args.push('--ro-bind-try', path, path);
  for (const path of confinement.readOnlyPaths) args.push('--ro-bind', path, path);
  if (confinement.scratch !== undefined) args.push('--bind', confinement.scratch, confinement.scratch);
  // Both are memory file systems without a size of their own.
  args.push('--remount-ro', '/dev', '--remount-ro', '/');
  args.push('--chdir', confinement.scratch ?? '/tmp');
  return args;
}

/** The command line that runs `command` confined and limited: bubblewrap, then prlimit, then the command. */
export function confine(command: readonly string[], confinement: Confinement, limits: Limits): string[] {
  const limited = [
    '/usr/bin/prlimit',
    // SIGXCPU first, which tells the reason; SIGKILL a second later for who ignores it.
    `--cpu=${Math.ceil(limits.cpuSeconds)}:${Math.ceil(limits.cpuSeconds) + 1}`,
    `--fsize=${limits.fileBytes}`,
    '--core=0',
    // Counts every process of the user outside a user namespace, so it bounds only inside one.
    ...(confinement.sandbox.kind === 'bubblewrap' ? [`--nproc=${limits.processes}`] : []),
    ...command,
  ];
  return confinement.sandbox.kind === 'bubblewrap' ? [...bubblewrap(confinement), ...limited] : limited;
}

/** What was in force, for the report. */
export interface Protection {
  readonly sandbox: Sandbox['kind'];
  readonly reason: string;
  readonly limits: readonly string[];
}

export function describeProtection(sandbox: Sandbox, limits: Limits): Protection {
  const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
  return {
    sandbox: sandbox.kind,
    reason: sandbox.reason,
    limits: [
      `wall time ${limits.wallSeconds} s`,
      `CPU time ${limits.cpuSeconds} s (RLIMIT_CPU by prlimit, process tree polled)`,
      `memory ${mebibytes(limits.memoryBytes)} (resident, process tree polled every ${limits.pollMs} ms)`,
      `${limits.processes} processes (polled${sandbox.kind === 'bubblewrap' ? ', RLIMIT_NPROC' : ''})`,
      `file size ${mebibytes(limits.fileBytes)} (RLIMIT_FSIZE), all files ${mebibytes(limits.scratchBytes)} (polled)`,
      `output ${mebibytes(limits.outputBytes)}`,
    ],
  };
}
