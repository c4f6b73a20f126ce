import {
  allowedAttributes,
  allowedIncludes,
  allowedStandardAttributes,
  forbiddenNames,
  forbiddenWords,
  grants,
} from '../../model/code-names.ts';
import type { PromptSection } from '../../model/language-model.ts';
import { maxFileBytes, maxFileLines } from './check-agent-file.ts';
import type { ContractTask } from './contract-task.ts';
import { renderPrompt } from './prompt-files.ts';
import {
  configSection,
  contractSection,
  failureSections,
  fence,
  findingSections,
  gateSection,
  headerSections,
  ownHeaderSection,
  requirementSections,
  sourceSections,
  variantSection,
} from './prompt-sections.ts';

/** Rules first and the same for every contract of an engine, so that endpoints may keep them; then the contract. */
export function implementerPrompt(task: ContractTask): { system: string; sections: PromptSection[] } {
  return {
    system: renderPrompt('implementer', ruleSlots(task)),
    sections: [
      contractSection(task.contract),
      ownHeaderSection(task.contract),
      configSection(task),
      variantSection(task),
      ...headerSections(task),
      ...requirementSections(task),
      ...gateSection(task.contract),
      ...failureSections(task),
      ...sourceSections(task),
      ...findingSections(task),
      fileSection(task),
    ],
  };
}

/** What the rules for a file depend on. */
export function ruleSlots({ platform }: ContractTask): Record<string, string> {
  return {
    compile: [platform.compiler, ...platform.flags].join(' '),
    lanes: String(platform.vectorWidth),
    includes: [...allowedIncludes].map((name) => `<${name}>`).join(' '),
    forbidden: [...forbiddenWords, ...forbiddenNames].join(' '),
    grants: Object.entries(grants)
      .map(([contract, names]) => `${contract}: ${names.join(' ')}`)
      .join('; '),
    attributes: [...allowedAttributes].join(', '),
    standard_attributes: [...allowedStandardAttributes].map((name) => `[[${name}]]`).join(', '),
    lines: String(maxFileLines),
    kilobytes: String(maxFileBytes / 1024),
  };
}

/** Last, so that it is what the model read last. */
export function fileSection({ contract, path, available, findings }: ContractTask): PromptSection {
  const headers = available.map(({ brief }) => brief.header.name);
  const text = [
    `Write ${path}, whole. It implements ${contract.header.name}.`,
    `It begins:\n${fence(`// SPDX-License-Identifier: MIT\n// ${contract.id}: …\n#include "${contract.header.name}"`, 'cpp')}`,
    headers.length === 0
      ? 'No other header of the engine may be included.'
      : `Of the engine it may include: ${headers.join(', ')}.`,
    ...(findings.length === 0 ? [] : ['Every finding above must be gone.']),
  ].join('\n');
  return { title: 'The file to write', text, priority: 0 };
}
