/** A shorter overlap, or one of few different characters (a table of zeros), may be chance. */
const shortestOverlap = 16;
const leastVariety = 8;
const longestOverlap = 4000;

/** A text that was cut off and what the model wrote when asked to go on, without what it said twice. */
export function joinParts(before: string, after: string): string {
  const next = withoutReopenedFence(before, after);
  // Models often begin without the blank that stood at the cut.
  for (const start of new Set([next, next.trimStart()])) {
    const overlap = findOverlap(before, start);
    if (overlap > 0) return before + start.slice(overlap);
  }
  return before + next;
}

function findOverlap(before: string, after: string): number {
  for (
    let length = Math.min(longestOverlap, before.length, after.length);
    length >= shortestOverlap;
    length--
  ) {
    const start = after.slice(0, length);
    if (before.endsWith(start)) return new Set(start).size >= leastVariety ? length : 0;
  }
  return 0;
}

/** Inside an open block a model that goes on often opens it once more, after a sentence or two. */
function withoutReopenedFence(before: string, after: string): string {
  const fences = before.match(/^ {0,3}(?:`{3,}|~{3,})/gm) ?? [];
  if (fences.length % 2 === 0) return after;
  const reopened = /^(?:[^`\n][^\n]{0,200}\n|\s*\n){0,3} {0,3}(?:`{3,}|~{3,})[^\n`]+\n/.exec(after);
  return reopened === null ? after : after.slice(reopened[0].length);
}
