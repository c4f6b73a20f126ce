/** Tokens that a chat template puts around one message. */
const perMessage = 16;

/** Tokens for each that a text can have at most: more is no lesson, or all prompts would seem too long from then on. */
const absurd = 4;

/** On top of the highest ratio measured. */
const margin = 1.05;

/**
 * Tokens of a prompt, before an endpoint counts them: never too few on purpose, since limits are held with it.
 * Until usage was reported, half a token for each letter and blank and one for each other byte; then in the highest
 * proportion that was reported.
 */
export interface TokenEstimator {
  estimate(texts: readonly string[]): number;
  /** What the endpoint reported for these texts. */
  learn(texts: readonly string[], promptTokens: number): void;
  /**
   * What a reported count means. `cut`: far too small for these texts, as of an endpoint that cuts long prompts without
   * a word; `partial`: smaller than what it has read before, as of one that doesn't count what it had in its cache.
   */
  judge(texts: readonly string[], promptTokens: number): 'plausible' | 'cut' | 'partial';
}

export function createTokenEstimator(): TokenEstimator {
  let highest: number | undefined;
  let lowest: number | undefined;
  let mostTokens = 0;
  const overheadOf = (texts: readonly string[]) => texts.length * perMessage;
  return {
    estimate(texts) {
      const size = texts.reduce((sum, text) => sum + weigh(text), 0);
      const ratio = highest === undefined ? 1 : highest * margin;
      return Math.ceil(size * ratio) + overheadOf(texts);
    },
    learn(texts, promptTokens) {
      const size = texts.reduce((sum, text) => sum + weigh(text), 0);
      // A short prompt is mostly template, which says nothing about the text.
      if (size < 500) return;
      // No count: every byte on its own would be fewer.
      if (promptTokens > size * absurd) return;
      const ratio = promptTokens / size;
      highest = Math.max(highest ?? 0, ratio);
      lowest = Math.min(lowest ?? ratio, ratio);
      mostTokens = Math.max(mostTokens, promptTokens);
    },
    judge(texts, promptTokens) {
      const size = texts.reduce((sum, text) => sum + weigh(text), 0);
      // On average no tokenizer in use puts more than ten letters of code and prose into a token.
      if (size < 2000 || promptTokens >= size * Math.max(0.2, (lowest ?? 0) / 2)) return 'plausible';
      // What is cut keeps half of the context at least.
      return promptTokens * 2 < mostTokens ? 'partial' : 'cut';
    },
  };
}

/**
 * Tokens at most, for the tokenizers in use: a letter or blank is never a token of its own for long, while many take
 * each digit and each sign for one, and some each byte beyond ASCII.
 */
function weigh(text: string): number {
  const wordy = text.length - text.replace(/[A-Za-z_ ]/g, '').length;
  return wordy / 2 + (Buffer.byteLength(text) - wordy);
}
