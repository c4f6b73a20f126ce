import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A GPU as its driver describes it. */
export interface CudaDevice {
  readonly name: string;
  readonly driver: string;
  /** `9.0`. */
  readonly computeCapability: string;
  /** As nvidia-smi writes it: `143771 MiB`. */
  readonly memory: string;
}

/** What the driver's own program says; undefined where there is no driver, or it does not answer. */
export async function queryDevices(program = 'nvidia-smi'): Promise<readonly CudaDevice[] | undefined> {
  const query = '--query-gpu=name,driver_version,compute_cap,memory.total';
  try {
    const { stdout } = await run(program, [query, '--format=csv,noheader'], { timeout: 30_000 });
    return stdout.split('\n').flatMap((line) => {
      const [name, driver, computeCapability, memory] = line.split(',').map((part) => part.trim());
      if (!name || !driver || !computeCapability || !memory) return [];
      return [{ name, driver, computeCapability, memory }];
    });
  } catch {
    return undefined;
  }
}

/** nvidia-caps and the like are for several tenants of one device. */
const deviceFile = /^nvidia(?:\d+|ctl|-uvm|-uvm-tools)$/;

/** The driver's device files: what a process must be able to open to use a GPU. None without a GPU of its own. */
export function listDeviceFiles(folder = '/dev'): readonly string[] {
  const files = readdirSync(folder).filter((name) => deviceFile.test(name));
  const hasDevice = files.some((name) => /^nvidia\d+$/.test(name));
  return hasDevice ? files.sort().map((name) => join(folder, name)) : [];
}
