import { parseDocument } from 'yaml';
import type { Constraints } from '../../model/constraints.ts';

export type Mode = Constraints['generation']['mode'];
export const modes = [
  'zero-reference',
  'knowledge-first',
  'source-reference',
] as const satisfies readonly Mode[];

/**
 * The text of an accepted constraint file as it asks for another mode, everything else as it is written. Source files
 * are named in the mode that shows them and in no other.
 */
export function textInMode(text: string, mode: Mode, sourceFiles: readonly string[]): string {
  const document = parseDocument(text);
  document.setIn(['generation', 'mode'], mode);
  if (mode === 'source-reference') document.setIn(['generation', 'source_files'], [...sourceFiles]);
  else document.deleteIn(['generation', 'source_files']);
  return document.toString();
}
