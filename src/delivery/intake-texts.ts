import type { Permission } from '../model/github.ts';

/** Answers to requests that start nothing. Each says what was found and what to do. */

export function renderSeveralBlocks(firstLines: readonly number[]): string {
  const lines = firstLines.map((line) => `line ${line}`).join(', ');
  return `The issue holds ${firstLines.length} constraint files (they begin at ${lines}), and one issue asks for one engine. Please keep one and open another issue for each of the others; I look again when you edit.`;
}

export function renderNoBlock(): string {
  return 'I found no constraint file here. Put it into the issue as a fenced block that begins with `apiVersion: metainfer/v1`:\n\n````markdown\n```yaml\napiVersion: metainfer/v1\nname: my-engine\n# …\n```\n````\n\nThe issue form "Engine request" has one to start from.';
}

export function renderDailyLimit(limit: number): string {
  return `That would be more than ${limit} runs for you in this repository within 24 hours, the limit set by \`limits.runs_per_actor_per_day\` in \`.github/metainfer.yml\`. Ask again later, or ask a maintainer to raise it.`;
}

export function renderLabelRefused(label: string, login: string, needed: Permission | 'anyone'): string {
  return `The label \`${label}\` counts only from somebody who may generate here (permission \`${needed}\` or more), and ${login} may not. Nothing was started.`;
}

export function renderAlreadyPassed(runNumber: number, pullUrl: string | null): string {
  const where = pullUrl === null ? '' : `: ${pullUrl}`;
  return `Run ${runNumber} has made exactly this engine already, and it passed${where}. \`/metainfer bench\` measures it again.`;
}

export function renderUnderWay(runNumber: number, statusUrl: string | null): string {
  return `Run ${runNumber} for exactly this is under way${statusUrl === null ? '' : ` ([status](${statusUrl}))`}. \`/metainfer cancel\` stops it.`;
}

export function renderNothingToStop(): string {
  return 'No run of this issue or pull request is under way, so there is nothing to cancel.';
}

export function renderNothingToRepeat(): string {
  return 'There is no ended run here to repeat. `/metainfer generate` starts one where there is a constraint file.';
}

export function renderNothingToBench(): string {
  return 'There is no verified engine here to measure: `/metainfer bench` repeats the measurement of a run that reached the runner.';
}

export function renderHeld(): string {
  return 'The plan is made, and nothing else was asked for. `/metainfer generate` goes on from here.';
}
