import type { CheckDraft } from '../../model/delivery.ts';
import { cutText } from './marker.ts';

/** GitHub's limits of a check run. */
export const annotationsPerRequest = 50;
const textLimit = 65_535;
const messageBytes = 64 * 1024;

function cutBytes(text: string, limit: number): string {
  let cut = cutText(text, limit);
  while (Buffer.byteLength(cut) > limit) cut = cutText(cut, Math.floor(cut.length * 0.9));
  return cut;
}

function toOutput(draft: CheckDraft, from: number) {
  return {
    title: cutText(draft.title, 255),
    summary: cutText(draft.summary, textLimit),
    ...(draft.text === undefined ? {} : { text: cutText(draft.text, textLimit) }),
    annotations: draft.annotations.slice(from, from + annotationsPerRequest).map((annotation) => ({
      path: annotation.path,
      start_line: annotation.startLine,
      end_line: annotation.endLine,
      annotation_level: annotation.level,
      message: cutBytes(annotation.message, messageBytes),
      ...(annotation.title === undefined ? {} : { title: cutText(annotation.title, 255) }),
    })),
  };
}

/** Everything of a check but its annotations after the first 50 from `from`. */
export function toFields(draft: CheckDraft, from: number) {
  return {
    status: draft.status,
    ...(draft.conclusion === undefined ? {} : { conclusion: draft.conclusion }),
    output: toOutput(draft, from),
    actions: draft.actions.slice(0, 3).map(({ label, description, identifier }) => ({
      label: cutText(label, 20),
      description: cutText(description, 40),
      identifier,
    })),
  };
}
