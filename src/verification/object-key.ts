import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripCommentsAndStrings } from '../model/cpp-text.ts';

/**
 * The source and every local header that it reaches, name and text, so that one changed header means one rebuild.
 * Only plain files of the folder itself are read: the text under test may name a device or a file of this machine,
 * and the compiler in its sandbox finds neither.
 */
export function readTransitive(
  folder: string,
  file: string,
  seen = new Map<string, string>(),
): Map<string, string> {
  if (seen.has(file) || !isPlainFile(folder, file)) return seen;
  const text = readFileSync(join(folder, file), 'utf8');
  seen.set(file, text);
  for (const match of text.matchAll(/^[ \t]*#[ \t]*include[ \t]*"([^"]+)"/gm)) {
    readTransitive(folder, match[1] as string, seen);
  }
  return seen;
}

function isPlainFile(folder: string, name: string): boolean {
  return !name.includes('/') && lstatSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true;
}

/**
 * config.h without the constants that the unit doesn't refer to: they change no code, so that a unit is compiled once
 * for all models that agree on what it uses.
 */
export function pruneConfig(texts: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const config = texts.get('config.h');
  const rest = [...texts]
    .filter(([file]) => file !== 'config.h')
    .map(([, text]) => stripCommentsAndStrings(text));
  if (config === undefined || rest.some(hidesReferences)) return texts;
  const used = new Set(
    rest.flatMap((text) => [...text.matchAll(/\bconfig\s*::\s*(\w+)/g)].map(([, name]) => name)),
  );
  const kept = config.split('\n').filter((line) => {
    const name = /^inline constexpr .*?(\w+) = .*;$/.exec(line)?.[1];
    return name === undefined || used.has(name);
  });
  return new Map([...texts, ['config.h', kept.join('\n')]]);
}

/** Whether the text may use constants without writing `config::name`: by another name of the namespace, or a macro. */
function hidesReferences(text: string): boolean {
  return /\bnamespace\s+config\b|\bnamespace\s+\w+\s*=|^[ \t]*#[ \t]*define\b/m.test(text);
}
