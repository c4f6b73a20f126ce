import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import type { Conditions } from '../model/benchmark.ts';
import { measureTree, treePids } from './process-tree.ts';

const ticksPerSecond = 100;

interface CpuTimes {
  /** Seconds of all cores since boot. */
  readonly total: number;
  readonly busy: number;
  readonly steal: number;
  /** Of this process and of the process trees that it watches. */
  readonly own: number;
}

function readCpuTimes(pids: readonly number[]): CpuTimes {
  const line = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1] ?? '';
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, steal = 0] = line
    .split(' ')
    .map((ticks) => Number(ticks) / ticksPerSecond);
  const busy = user + nice + system + irq + softirq;
  const self = process.cpuUsage();
  const own = pids.reduce((sum, pid) => sum + measureTree(pid).cpuSeconds, (self.user + self.system) / 1e6);
  return { total: busy + idle + wait + steal, busy, steal, own };
}

/** Watches the machine from now on; the returned function says how it was. `pids` are the engines under test. */
export function watchConditions(pids: readonly number[]): () => Conditions {
  const before = readCpuTimes(pids);
  const loadBefore = loadavg()[0] ?? 0;
  return () => {
    const after = readCpuTimes(pids);
    const total = Math.max(after.total - before.total, 1e-9);
    const foreign = after.busy - before.busy - (after.own - before.own);
    return {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      loadavg_before: loadBefore,
      loadavg_after: loadavg()[0] ?? 0,
      steal_share: Math.max(0, (after.steal - before.steal) / total),
      foreign_cpu_share: Math.max(0, foreign / total),
    };
  };
}

/** Largest resident memory that each process of the tree ever had, added up: the kernel's own high-water marks. */
export function peakMemoryBytes(pid: number): number {
  return treePids(pid).reduce((sum, one) => {
    try {
      const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${one}/status`, 'latin1'))?.[1];
      return sum + Number(kilobytes ?? 0) * 1024;
    } catch {
      return sum;
    }
  }, 0);
}
