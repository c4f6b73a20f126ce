import type { Logger } from 'pino';
import type { RunRecord } from '../../model/run-record.ts';
import { type RunRow, toRunRecord } from './run-row.ts';

/** Reads rows of runs where one that another version of the program wrote must not stand in the way of the others. */
export interface RunReader {
  /** Undefined where the saved state is not one that this version writes; logged once for each run. */
  readKnown(row: RunRow): RunRecord | undefined;
}

export function createRunReader(log: Logger): RunReader {
  const told = new Set<string>();
  return {
    readKnown: (row) => {
      try {
        return toRunRecord(row);
      } catch (error) {
        if (!told.has(row.id)) log.error({ run: Number(row.number), err: error }, 'a run is passed over');
        told.add(row.id);
        return undefined;
      }
    },
  };
}
