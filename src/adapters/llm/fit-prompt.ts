import type { PromptSection } from '../../model/language-model.ts';

/** Sections that fit, in their order, and the titles of those that didn't. */
export interface FittedPrompt {
  readonly text: string;
  readonly leftOut: readonly string[];
}

/**
 * Leaves out whole sections until the prompt is at most `room` tokens long: highest priority number first, among
 * equals the largest. What is missing is said in the prompt. Undefined where priority 0 alone is too long.
 */
export function fitPrompt(
  sections: readonly PromptSection[],
  room: number,
  estimate: (text: string) => number,
): FittedPrompt | undefined {
  let kept = [...sections];
  for (;;) {
    const leftOut = sections.filter((section) => !kept.includes(section)).map(({ title }) => title);
    const text = renderSections(kept, leftOut);
    if (estimate(text) <= room) return { text, leftOut };
    const next = pickDispensable(kept);
    if (next === undefined) return undefined;
    kept = kept.filter((section) => section !== next);
  }
}

function pickDispensable(sections: readonly PromptSection[]): PromptSection | undefined {
  return sections
    .filter(({ priority }) => priority > 0)
    .sort((a, b) => b.priority - a.priority || b.text.length - a.text.length)[0];
}

export function renderSections(sections: readonly PromptSection[], leftOut: readonly string[]): string {
  const parts = sections.map(renderSection);
  if (leftOut.length > 0) {
    parts.push(
      `=== Left out ===\n\nFor lack of room these sections are not shown: ${leftOut.join('; ')}. Do not guess what they say.`,
    );
  }
  return parts.join('\n\n');
}

function renderSection({ title, text }: PromptSection): string {
  return `=== ${title} ===\n\n${text.trimEnd()}`;
}

/** Titles of the sections that a prompt, as it was sent, doesn't hold. */
export function findLeftOut(sections: readonly PromptSection[], sent: string): readonly string[] {
  return sections.filter((section) => !sent.includes(renderSection(section))).map(({ title }) => title);
}
