import { readdirSync, readFileSync } from 'node:fs';

/** What a process and everything it started use at this moment, read from /proc. */
export interface TreeUsage {
  readonly pids: readonly number[];
  /** Resident pages of all processes added up; shared pages count once per process. */
  readonly rssBytes: number;
  /** User and system time of the living and of the children they waited for. */
  readonly cpuSeconds: number;
}

const pageBytes = 4096;
const ticksPerSecond = 100;

interface Stat {
  readonly parent: number;
  readonly rssBytes: number;
  readonly cpuSeconds: number;
}

function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command name stands in parentheses and may hold anything, closing parentheses included.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
    return {
      parent: Number(fields[1]),
      rssBytes: Number(fields[21]) * pageBytes,
      cpuSeconds: ticks / ticksPerSecond,
    };
  } catch {
    return undefined;
  }
}

function listPids(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);
}

function readChildren(pid: number): number[] | undefined {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')
        .split(' ')
        .map(Number)
        .filter((child) => child > 0),
    );
  } catch {
    return undefined;
  }
}

/** Children of every process, for kernels without /proc/<pid>/task/<tid>/children. */
function scanChildren(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const pid of listPids()) {
    const parent = readStat(pid)?.parent;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  return children;
}

function hasMark(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark);
  } catch {
    return false;
  }
}

/**
 * The processes under `root`. With a `mark` (a unique string in the environment that root was started with)
 * those are found too that left the tree by a double fork.
 */
export function treePids(root: number, mark?: string): number[] {
  const found = new Set<number>([root]);
  let scanned: Map<number, number[]> | undefined;
  const waiting = [root];
  while (waiting.length > 0) {
    const pid = waiting.pop() as number;
    let children = readChildren(pid);
    if (children === undefined && readStat(pid) !== undefined) {
      scanned ??= scanChildren();
      children = scanned.get(pid);
    }
    for (const child of children ?? []) {
      if (found.has(child)) continue;
      found.add(child);
      waiting.push(child);
    }
  }
  if (mark !== undefined) {
    for (const pid of listPids()) if (!found.has(pid) && hasMark(pid, mark)) found.add(pid);
  }
  return [...found];
}

export function measureTree(root: number, mark?: string): TreeUsage {
  const pids = treePids(root, mark);
  let rssBytes = 0;
  let cpuSeconds = 0;
  for (const pid of pids) {
    const stat = readStat(pid);
    rssBytes += stat?.rssBytes ?? 0;
    cpuSeconds += stat?.cpuSeconds ?? 0;
  }
  return { pids, rssBytes, cpuSeconds };
}

/** Ends every process that carries the mark, wherever it went. */
export function killMarked(mark: string): void {
  for (const pid of listPids()) if (hasMark(pid, mark)) sendSignal(pid, 'SIGKILL');
}

/** Ends the whole tree at once. Stopping each process first keeps one that forks from outrunning the kill. */
export function killTree(root: number, mark?: string): void {
  for (let round = 0; round < 5; round++) {
    const pids = treePids(root, mark);
    for (const pid of pids) sendSignal(pid, 'SIGSTOP');
    const again = treePids(root, mark);
    if (again.every((pid) => pids.includes(pid))) break;
  }
  for (const pid of treePids(root, mark)) sendSignal(pid, 'SIGKILL');
}

function sendSignal(pid: number, signal: 'SIGSTOP' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Already gone.
  }
}
