import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { DeviceReport } from '../../model/device-report.ts';
import { AppError } from '../../model/errors.ts';
import { readDeviceReport } from './check-report.ts';

export interface CheckRun {
  readonly bundle: string;
  /** report.json and the logs go there. */
  readonly out: string;
  readonly isFake: boolean;
  readonly budgetSeconds: number;
  /** Steps to run; the others are skipped. */
  readonly only?: readonly string[];
  /** Compiled objects are kept there. */
  readonly cacheFolder?: string;
  readonly seed?: number;
  /** Tokens that a gate may have in a fake run. */
  readonly fakePositions?: number;
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
}

export interface CheckEnd {
  readonly report: DeviceReport;
  readonly reportPath: string;
  /** 0: nothing failed. */
  readonly exitCode: number | null;
}

/**
 * Runs device_check.py of a bundle and reads its report; a run that `signal` ends leaves what it found until then.
 * @throws AppError TOOL_MISSING without python3, USAGE with its words where it refuses the bundle, REPORT_REJECTED
 */
export async function runDeviceCheck(run: CheckRun): Promise<CheckEnd> {
  const reportPath = join(run.out, 'report.json');
  rmSync(reportPath, { force: true });
  const { code, errors } = await startDriver(run);
  if (!existsSync(reportPath))
    throw new AppError('USAGE', `device_check.py refused (exit code ${code}): ${errors.trim().slice(-1500)}`);
  return { report: readDeviceReport(readFileSync(reportPath, 'utf8')), reportPath, exitCode: code };
}

function startDriver(run: CheckRun): Promise<{ code: number | null; errors: string }> {
  const { bundle, out, budgetSeconds, isFake, only, cacheFolder, seed, fakePositions } = run;
  const args = [
    ...[join(bundle, 'device/device_check.py'), '--bundle', bundle, '--out', out],
    ...['--budget-seconds', String(budgetSeconds)],
    ...(isFake ? ['--fake'] : []),
    ...(only === undefined ? [] : ['--only', only.join(',')]),
    ...(cacheFolder === undefined ? [] : ['--cache', cacheFolder]),
    ...(fakePositions === undefined ? [] : ['--fake-positions', String(fakePositions)]),
    ...(seed === undefined ? [] : ['--seed', String(seed)]),
  ];
  return new Promise((resolve, reject) => {
    // -B: no bytecode in a bundle whose files have hashes.
    const child = spawn('python3', ['-B', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const end = () => child.kill('SIGTERM');
    run.signal.addEventListener('abort', end, { once: true });
    if (run.signal.aborted) end();
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-10_000);
    });
    createInterface({ input: child.stdout }).on('line', run.onLine);
    child.on('error', (cause) =>
      reject(new AppError('TOOL_MISSING', 'python3 cannot be started.', { cause })),
    );
    child.on('close', (code) => {
      run.signal.removeEventListener('abort', end);
      resolve({ code, errors });
    });
  });
}
