import type { PromptSection } from '../../model/language-model.ts';
import type { ContractTask } from './contract-task.ts';
import type { Clause } from './list-clauses.ts';
import { renderPrompt } from './prompt-files.ts';
import {
  configSection,
  contractSection,
  fence,
  headerSections,
  ownHeaderSection,
  variantSection,
} from './prompt-sections.ts';

/** All keys required and none besides: what every endpoint's strict mode understands. */
export const reviewSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['clauses'],
  properties: {
    clauses: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['clause', 'verdict', 'line', 'reason'],
        properties: {
          clause: { type: 'string' },
          verdict: { type: 'string', enum: ['met', 'violated', 'unstated'] },
          line: { type: ['integer', 'null'] },
          reason: { type: 'string' },
        },
      },
    },
  },
} as const;

/** Contract and code, nothing that the implementer said: comments are blanked, line numbers stay. */
export function reviewerPrompt(
  task: ContractTask,
  code: string,
  clauses: readonly Clause[],
): { system: string; sections: PromptSection[] } {
  const listed = clauses.map(({ id, text }) => `[${id}] ${text}`).join('\n');
  return {
    system: renderPrompt('reviewer', {}),
    sections: [
      contractSection(task.contract),
      { title: 'Clauses to judge', text: listed, priority: 0 },
      variantSection(task),
      ownHeaderSection(task.contract),
      configSection(task),
      ...headerSections(task),
      { title: `Code of ${task.path}`, text: fence(numberLines(blankComments(code)), ''), priority: 0 },
    ],
  };
}

function numberLines(code: string): string {
  const lines = code.replace(/\n$/, '').split('\n');
  return lines.map((line, index) => `${String(index + 1).padStart(4)}| ${line}`).join('\n');
}

/** Literals and numbers are matched first, so that no quote or slash within them begins anything. */
export function blankComments(code: string): string {
  const pattern =
    /R"([^()\\\s]{0,16})\([\s\S]*?\)\1"|"(?:[^"\\\n]|\\.)*"|\b\d[\w.']*|'(?:[^'\\\n]|\\.)+'|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;
  return code
    .replace(pattern, (part) => (/^\/[/*]/.test(part) ? part.replace(/[^\n]/g, ' ') : part))
    .replace(/[ \t]+$/gm, '');
}
