import { codeSpan } from '../model/escape-text.ts';
import { grouped } from '../model/show-number.ts';
import { listWords } from './markdown.ts';

/** Answers to `/metainfer fix` that start nothing. Each says why, and what to do instead. */

const shownFiles = 12;

export function renderFixElsewhere(enginePull: number | null): string {
  const where =
    enginePull === null ? "an engine's pull request" : `the engine's pull request, #${enginePull}`;
  return `\`/metainfer fix\` belongs on ${where}: on the line that is wrong, or in the conversation there.`;
}

export function renderFixNotByAgents(): string {
  return 'No model wrote any of this engine: every file comes from verified knowledge, so there is no agent to correct it. A realization is corrected in `knowledge/`; `/metainfer generate` then makes the engine anew.';
}

/** `name` is a file or a contract of the engine. */
export function renderFixKnowledge(name: string): string {
  return `${codeSpan(name)} was not written by a model, so there is no agent to correct it: it comes from knowledge, or follows from the constraint file. If it is wrong, every engine made of it is; please open an issue where the knowledge lives, with what you saw.`;
}

export function renderFixWhere(files: readonly string[]): string {
  const shown = files.slice(0, shownFiles).map((file) => codeSpan(file));
  const more = files.length > shown.length ? ` and ${files.length - shown.length} more` : '';
  const list =
    files.length === 0
      ? 'No file of a model is here yet.'
      : `A model wrote ${more === '' ? listWords(shown) : `${shown.join(', ')}${more}`}.`;
  const example = files[0] ?? 'norm_rms.cpp';
  return `Which file, and what is wrong with it? Comment on the line itself, or begin with the file: ${codeSpan(`/metainfer fix ${example} the mean leaves out the last column`)}. ${list}`;
}

export function renderFixUnderWay(runNumber: number): string {
  return `Run ${runNumber} is still under way. Once it has ended, please ask again, if its verdict has not settled it.`;
}

export function renderFixNoModel(): string {
  return 'This app has no language model configured now, so nobody can make the change. Its operator sets one with `METAINFER_LLM`.';
}

export function renderFixBudget(used: number, limit: number): string {
  return `This run has used ${grouped(used)} of the ${grouped(limit)} tokens that it may use, so no model can be asked. Raise \`generation.budget.tokens\` in the constraint file for a new run, or ask the operator of this app for more.`;
}

export function renderFixClosed(isMerged: boolean): string {
  return isMerged
    ? 'This pull request is merged, so there is no branch left to correct. Ask for the engine anew: `/metainfer generate` on the issue.'
    : 'This pull request is closed. Reopen it and comment once more.';
}
