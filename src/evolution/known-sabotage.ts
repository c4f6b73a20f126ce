import { parse } from 'yaml';
import { SabotageFile } from '../model/sabotage.ts';

export const sabotagePath = 'sabotage.yaml';

/** Mutations that knowledge holds; undefined where the file is absent or none. */
export function knownSabotage(knowledge: ReadonlyMap<string, string>): SabotageFile | undefined {
  const text = knowledge.get(sabotagePath);
  if (text === undefined) return undefined;
  return SabotageFile.safeParse(parse(text)).data;
}
