import { closeSync, openSync } from 'node:fs';
import { multiplyBlock } from '../../knowledge/contracts/linear-dense/reference.ts';
import type { FloatFormat } from './float-formats.ts';
import { readElements } from './safetensors.ts';
import type { TensorPlace } from './safetensors-header.ts';

/** One matrix product of the oracle. All arrays lie in shared memory, so that several threads work on one job. */
export interface MatrixJob {
  readonly id: number;
  readonly place: TensorPlace;
  /** [rows, width]; width is the matrix's number of columns. */
  readonly x: Float64Array;
  /** [rows, outputs]. */
  readonly out: Float64Array;
  /** The engine's weight format, which the matrix is rounded to. */
  readonly storedAs: FloatFormat;
  /** One integer: the next matrix row that nobody has taken. */
  readonly next: Int32Array;
}

/** Elements of a block in float64: 512 KiB, which stays in the second-level cache while all positions use it. */
const blockElements = 65_536;

/** Takes blocks of matrix rows until none is left: reads one, turns it into float64 once, uses it for every position. */
export function workOnJob(job: MatrixJob): void {
  const [outputs, width] = [job.place.shape[0]!, job.place.shape[1]!];
  const rows = job.x.length / width;
  const step = Math.max(4, Math.floor(blockElements / width / 4) * 4);
  const descriptor = openSync(job.place.path, 'r');
  try {
    for (;;) {
      const first = Atomics.add(job.next, 0, step);
      if (first >= outputs) return;
      const count = Math.min(step, outputs - first);
      const block = new Float64Array(count * width);
      readElements(descriptor, job.place, first * width, job.storedAs, block);
      multiplyBlock(job.x, rows, width, block, count, job.out, outputs, first);
    }
  } finally {
    closeSync(descriptor);
  }
}
