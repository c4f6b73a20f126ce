/** Of text that is JSON: strings with what follows them, and what opens and closes. */
const marks = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;

/**
 * The first key of valid JSON text that stands twice in one object, or that is no plain name; undefined where none does.
 * Readers differ in which of two values they take, so that such a text says two things.
 */
export function findRepeatedKey(text: string): string | undefined {
  const open: (Set<string> | null)[] = [];
  for (const [mark, colon] of text.matchAll(marks)) {
    if (mark === '{') open.push(new Set());
    else if (mark === '[') open.push(null);
    else if (mark === '}' || mark === ']') open.pop();
    else if (colon !== undefined) {
      const key = JSON.parse(mark.slice(0, mark.length - colon.length)) as string;
      const keys = open.at(-1);
      if (keys?.has(key) || key === '__proto__') return key;
      keys?.add(key);
    }
  }
  return undefined;
}
