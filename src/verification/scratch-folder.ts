import { createHash } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openCacheFolder, unusableFolder } from './cache-folder.ts';

/** A process, by what its folders are named after. No two processes of a machine have the same. */
interface Owner {
  /** Of the boot and the process namespace: pids of another container or another boot say nothing here. */
  readonly machine: string;
  readonly pid: string;
  /** In ticks since boot, since pids are used again. */
  readonly startedAt: string;
}

/**
 * Makes an empty folder `<prefix>-…` below `below`. Its name tells the owner, because what runs in it may write into
 * it and because an engine's copy holds nothing else.
 * @throws AppError of the machine, naming `below` and the setting
 */
export function makeScratch(below: string, prefix: string, setting = 'METAINFER_CACHE'): string {
  openCacheFolder(below, setting);
  const owner = describeSelf();
  const tag = owner === undefined ? '' : `${owner.machine}-${owner.pid}-${owner.startedAt}-`;
  try {
    return mkdtempSync(join(below, `${prefix}-${tag}`));
  } catch (error) {
    throw unusableFolder(below, error, setting);
  }
}

/** Removes what commands that were killed left in a cache folder. Never fails. */
export function sweepCache(cacheFolder: string): void {
  const objects = join(cacheFolder, 'objects');
  sweepScratch(objects, ['scratch', 'verify', 'mutant', 'profile']);
  sweepScratch(join(cacheFolder, 'copies'), ['engine']);
  sweepScratch(join(cacheFolder, 'contracts'), ['engine']);
  sweepScratch(cacheFolder, ['bisect', 'optimize']);
  sweepFiles(objects, /\.(?:o|bin|ptxas)\.\d+\.\d+\.part$/);
}

const dayMs = 24 * 3600 * 1000;

/**
 * Removes the folders `<prefix>-…` of this user whose process is gone. Where the name tells no process, a day without
 * a change means the same; where it tells one of another machine that shares the folder, a week. Never fails.
 */
export function sweepScratch(below: string, prefixes: readonly string[]): void {
  const self = describeSelf();
  for (const name of listNames(below)) {
    if (!prefixes.some((prefix) => name.startsWith(`${prefix}-`))) continue;
    ignoringFaults(() => {
      const path = join(below, name);
      const entry = lstatSync(path);
      if (!entry.isDirectory() || entry.uid !== process.getuid?.()) return;
      const owner = readOwner(name);
      const isGone =
        owner !== undefined && owner.machine === self?.machine
          ? !isAlive(owner)
          : Date.now() - lastChange(path) > (owner === undefined ? 1 : 7) * dayMs;
      if (isGone) rmSync(path, { recursive: true, force: true });
    });
  }
}

function sweepFiles(below: string, pattern: RegExp): void {
  for (const name of listNames(below).filter((each) => pattern.test(each))) {
    ignoringFaults(() => {
      const path = join(below, name);
      if (Date.now() - lstatSync(path).mtimeMs > dayMs) rmSync(path);
    });
  }
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Another process may sweep at the same time, and nobody waits for a swept folder. */
function ignoringFaults(work: () => void): void {
  try {
    work();
  } catch {}
}

/** Of the folder or of what lies directly in it. */
function lastChange(folder: string): number {
  const paths = [folder, ...readdirSync(folder).map((name) => join(folder, name))];
  return Math.max(...paths.map((path) => lstatSync(path).mtimeMs));
}

function readOwner(name: string): Owner | undefined {
  const [, machine, pid, startedAt] = /-([0-9a-f]{12})-(\d+)-(\d+)-[^-]+$/.exec(name) ?? [];
  if (machine === undefined || pid === undefined || startedAt === undefined) return undefined;
  return { machine, pid, startedAt };
}

/** Undefined where /proc tells nothing. */
function describeSelf(): Owner | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
    const hash = createHash('sha256').update(boot).update(readlinkSync('/proc/self/ns/pid'));
    // Not process.pid, which may be counted otherwise than this /proc does.
    const pid = readlinkSync('/proc/self');
    return { machine: hash.digest('hex').slice(0, 12), pid, startedAt: readStat(pid).startedAt };
  } catch {
    return undefined;
  }
}

function isAlive({ pid, startedAt }: Owner): boolean {
  try {
    const stat = readStat(pid);
    // A killed process stays in /proc until its parent asks how it ended.
    return stat.startedAt === startedAt && stat.state !== 'Z' && stat.state !== 'X';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code !== 'ENOENT' && code !== 'ESRCH';
  }
}

function readStat(pid: string): { readonly state: string; readonly startedAt: string } {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The command name stands in parentheses and may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', startedAt: fields[19] ?? '' };
}
