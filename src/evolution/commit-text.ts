import type { Evidence } from '../model/contract.ts';
import type { Learnt } from '../model/lesson.ts';

/** Subject, then what it rests on: figures, device, command, run. Plain text; no line can become a trailer of its own. */
export function commitText(
  subject: string,
  { run }: Pick<Learnt, 'run'>,
  evidence?: Evidence,
  reasons: readonly string[] = [],
): string {
  const figures = Object.entries(evidence?.figures ?? {}).map(([name, value]) => `${name} ${value}`);
  const lines = [
    ...reasons,
    ...(figures.length === 0 ? [] : [`Figures: ${figures.join(', ')}`]),
    ...(evidence === undefined
      ? []
      : [
          `Device: ${evidence.device.cpu}, ${evidence.device.threads} threads; ${evidence.toolchain}`,
          `Repeat: ${evidence.repeat}`,
        ]),
    `Learnt from: run ${run.id}, engine ${run.engine}`,
  ];
  return [oneLine(subject).slice(0, 100), '', ...lines.map(oneLine)].join('\n');
}

function oneLine(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, '?')
    .trim();
}
