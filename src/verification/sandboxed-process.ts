import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { measureFolder } from './measure-folder.ts';
import { killMarked, killTree, measureTree } from './process-tree.ts';
import { type Confinement, confine, defaultLimits, environmentOf, type Limits } from './sandbox.ts';

export type EndReason =
  | 'exit'
  | 'wall-time'
  | 'cpu-time'
  | 'memory'
  | 'processes'
  | 'files'
  | 'output'
  | 'aborted'
  | 'not-started';

export interface ProcessEnd {
  readonly reason: EndReason;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly wallSeconds: number;
  readonly peakRssBytes: number;
}

export interface SandboxedCommand extends Confinement {
  readonly command: readonly string[];
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
  /** Opens pipes on file descriptors 3 (to the process) and 4 (from it). */
  readonly protocol?: boolean;
  /** Sees stdout as it comes; it is still kept and capped. */
  readonly onStdout?: (chunk: Buffer) => void;
}

export interface SandboxedProcess {
  readonly pid: number;
  readonly toProcess: Writable | undefined;
  readonly fromProcess: Readable | undefined;
  readonly ended: Promise<ProcessEnd>;
  /** Ends the process and everything it started. */
  kill(): void;
  stderrSoFar(): string;
  peakRssBytes(): number;
}

/** Nothing that is compiled or run here needs more. */
const maxFiles = 4096;

/** Ctrl-C of this program must leave nothing behind; bubblewrap also dies with its parent. */
const running = new Set<Watch>();
process.once('exit', () => {
  for (const watch of running) watch.end('aborted');
});

class Watch {
  reason: EndReason = 'exit';
  peakRssBytes = 0;
  outputBytes = 0;
  readonly stdout: Buffer[] = [];
  readonly stderr: Buffer[] = [];
  private readonly child: ChildProcess;
  private readonly limits: Limits;
  private readonly mark: string | undefined;
  private readonly scratch: string | undefined;
  private readonly timers: NodeJS.Timeout[] = [];

  constructor(child: ChildProcess, limits: Limits, mark: string | undefined, scratch: string | undefined) {
    this.child = child;
    this.limits = limits;
    this.mark = mark;
    this.scratch = scratch;
    child.stdout?.on('data', (chunk: Buffer) => this.collect(this.stdout, chunk));
    child.stderr?.on('data', (chunk: Buffer) => this.collect(this.stderr, chunk));
    this.timers.push(setInterval(() => this.poll(), limits.pollMs));
    this.timers.push(setTimeout(() => this.end('wall-time'), limits.wallSeconds * 1000));
  }

  private collect(into: Buffer[], chunk: Buffer): void {
    const room = this.limits.outputBytes - this.outputBytes;
    if (room > 0) into.push(chunk.subarray(0, room));
    this.outputBytes += chunk.length;
    if (this.outputBytes > this.limits.outputBytes) this.end('output');
  }

  private poll(): void {
    const pid = this.child.pid;
    if (pid === undefined || this.child.exitCode !== null || this.child.signalCode !== null) return;
    const usage = measureTree(pid);
    this.peakRssBytes = Math.max(this.peakRssBytes, usage.rssBytes);
    if (usage.rssBytes > this.limits.memoryBytes) this.end('memory');
    else if (usage.pids.length > this.limits.processes) this.end('processes');
    else if (usage.cpuSeconds > this.limits.cpuSeconds) this.end('cpu-time');
    else if (this.scratch !== undefined && this.isScratchFull(this.scratch)) this.end('files');
  }

  private isScratchFull(scratch: string): boolean {
    const { bytes, files } = measureFolder(scratch, maxFiles);
    return bytes > this.limits.scratchBytes || files >= maxFiles;
  }

  end(reason: EndReason): void {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    if (this.reason === 'exit') this.reason = reason;
    if (this.child.pid !== undefined) killTree(this.child.pid, this.mark);
  }

  /** Under bubblewrap the pid namespace died with its first process; without it the mark finds strays. */
  sweep(): void {
    if (this.mark !== undefined) killMarked(this.mark);
  }

  stop(): void {
    for (const timer of this.timers) clearTimeout(timer);
  }
}

/** Starts a command in the sandbox and watches its limits until it ends. */
export function startSandboxed(options: SandboxedCommand): SandboxedProcess {
  const limits = { ...defaultLimits, ...options.limits };
  const mark =
    options.sandbox.kind === 'none' ? `METAINFER_MARK=${randomBytes(12).toString('hex')}` : undefined;
  const [program, ...args] = confine(options.command, options, limits);
  const started = performance.now();
  const child = spawn(program as string, args, {
    detached: true,
    env: mark === undefined ? {} : { ...environmentOf(options), METAINFER_MARK: mark.split('=')[1] },
    ...(options.sandbox.kind === 'none' && options.scratch !== undefined ? { cwd: options.scratch } : {}),
    stdio: ['ignore', 'pipe', 'pipe', ...(options.protocol === true ? (['pipe', 'pipe'] as const) : [])],
  });
  const watch = new Watch(child, limits, mark, options.scratch);
  if (options.onStdout !== undefined) child.stdout?.on('data', options.onStdout);
  const onAbort = () => watch.end('aborted');
  running.add(watch);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  const ended = new Promise<ProcessEnd>((resolve) => {
    const finish = (exitCode: number | null, signal: string | null) => {
      watch.stop();
      options.signal?.removeEventListener('abort', onAbort);
      running.delete(watch);
      watch.sweep();
      resolve({
        reason: cpuEnded(signal, exitCode, watch.reason),
        exitCode,
        signal,
        stdout: Buffer.concat(watch.stdout),
        stderr: Buffer.concat(watch.stderr),
        wallSeconds: (performance.now() - started) / 1000,
        peakRssBytes: watch.peakRssBytes,
      });
    };
    child.once('error', (error) => {
      watch.reason = 'not-started';
      watch.stderr.push(Buffer.from(error.message));
      finish(null, null);
    });
    child.once('close', finish);
    // A stray that keeps the pipes open must not keep us waiting.
    child.once('exit', () => watch.sweep());
  });
  if (options.signal?.aborted === true) onAbort();
  const [, , , toProcess, fromProcess] = child.stdio;
  return {
    pid: child.pid ?? -1,
    toProcess: (toProcess ?? undefined) as Writable | undefined,
    fromProcess: (fromProcess ?? undefined) as Readable | undefined,
    ended,
    kill: () => watch.end('aborted'),
    stderrSoFar: () => Buffer.concat(watch.stderr).toString('utf8'),
    peakRssBytes: () => watch.peakRssBytes,
  };
}

/** RLIMIT_CPU ends a process with SIGXCPU or SIGKILL; bubblewrap reports a signal as 128 + its number. */
function cpuEnded(signal: string | null, exitCode: number | null, reason: EndReason): EndReason {
  return reason === 'exit' && (signal === 'SIGXCPU' || exitCode === 128 + 24) ? 'cpu-time' : reason;
}

export function runSandboxed(options: SandboxedCommand): Promise<ProcessEnd> {
  return startSandboxed(options).ended;
}
