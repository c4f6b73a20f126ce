import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../model/errors.ts';
import type { AgentRole } from '../../model/language-model.ts';

/** src/generation/prompts of this package: the texts stay there when the TypeScript is built to dist/. */
export function findPromptFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (folder !== dirname(folder)) {
    const candidate = join(folder, 'src', 'generation', 'prompts');
    if (existsSync(join(candidate, 'implementer.md'))) return candidate;
    folder = dirname(folder);
  }
  throw new AppError('INTERNAL', 'src/generation/prompts is missing from this installation.');
}

/** The system text of a role, its slots filled. */
export function renderPrompt(role: AgentRole, slots: Readonly<Record<string, string>>): string {
  return fillSlots(readFileSync(join(findPromptFolder(), `${role}.md`), 'utf8').trim(), slots);
}

/**
 * Replaces each `{{slot}}` once; what is filled in is not looked at again, so that it cannot name a slot.
 * @throws AppError INTERNAL for a slot without a value and a value without a slot: both are mistakes of this program
 */
export function fillSlots(template: string, slots: Readonly<Record<string, string>>): string {
  const used = new Set<string>();
  const text = template.replace(/\{\{([^{}]*)\}\}/g, (_, name: string) => {
    const value = Object.hasOwn(slots, name) ? slots[name] : undefined;
    if (value === undefined)
      throw new AppError('INTERNAL', `A prompt has the slot {{${name}}}, which nothing fills.`);
    used.add(name);
    return value;
  });
  const spare = Object.keys(slots).filter((name) => !used.has(name));
  if (spare.length > 0) throw new AppError('INTERNAL', `A prompt has no slot for ${spare.join(', ')}.`);
  return text;
}
