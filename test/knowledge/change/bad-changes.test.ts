import { describe, expect, test } from 'vitest';
import { formatProblem } from '../../../src/model/problem.ts';
import { badCode } from './bad-code.ts';
import { badContracts } from './bad-contracts.ts';
import { badEvidence } from './bad-evidence.ts';
import { errorsOf, textOf, withEdits } from './change-world.ts';

describe('a bad change is rejected at the line that is wrong', () => {
  test.each([...badContracts, ...badEvidence, ...badCode].map((bad) => [bad.what, bad] as const))(
    '%s',
    (_, bad) => {
      const errors = errorsOf(bad.edits, bad.options);
      const told = errors.filter(({ file, message }) => file === bad.file && bad.says.test(message));
      expect(errors.map(formatProblem).join('\n')).toMatch(bad.says);
      const lines = textOf(bad.file, withEdits(bad.edits)).split('\n');
      const places = told.map(({ line }) => lines[(line ?? 0) - 1] ?? '');
      expect(places.filter((line) => line.includes(String(bad.line)))).not.toEqual([]);
    },
  );
});
