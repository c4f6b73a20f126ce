/** Every way the program can refuse, by code. `documentation` is held against docs by test/model/errors.test.ts. */
export const errorCodes = {
  CONSTRAINTS_INVALID: {
    source: 'user',
    exit: 2,
    meaning: 'The constraint file has problems; each is listed with its place.',
  },
  NOT_COVERED: {
    source: 'user',
    exit: 2,
    meaning: 'What is asked for is known but no knowledge covers it yet.',
  },
  MODEL_UNKNOWN: { source: 'user', exit: 2, meaning: 'The model id is in no file of knowledge/models.' },
  MODEL_UNSUPPORTED: {
    source: 'user',
    exit: 2,
    meaning: 'A config.json key changes semantics in a way that no contract implements.',
  },
  CHECKPOINT_INVALID: {
    source: 'user',
    exit: 2,
    meaning: 'A checkpoint file is missing, truncated, corrupt or does not fit its config.json.',
  },
  TOKENIZER_UNSUPPORTED: {
    source: 'user',
    exit: 2,
    meaning: 'tokenizer.json uses a part that no contract implements.',
  },
  ENGINE_INVALID: {
    source: 'user',
    exit: 2,
    meaning: 'The engine folder is not one that this program wrote, or was changed since.',
  },
  USAGE: { source: 'user', exit: 2, meaning: 'The command line is not understood.' },
  OUTPUT_EXISTS: {
    source: 'user',
    exit: 2,
    meaning: 'The output folder exists and was not written by this program.',
  },
  RUN_STATE_INVALID: {
    source: 'user',
    exit: 2,
    meaning: 'The saved state of a run cannot be read or belongs to another constraint file.',
  },
  KNOWLEDGE_INVALID: {
    source: 'internal',
    exit: 4,
    meaning: 'The knowledge base contradicts itself; `metainfer knowledge check` lists how.',
  },
  TOOL_MISSING: {
    source: 'external',
    exit: 3,
    meaning: 'A compiler or tool that the command needs is not installed.',
  },
  SANDBOX_UNAVAILABLE: {
    source: 'external',
    exit: 3,
    meaning: 'Agent-written code needs bubblewrap, and it does not work on this machine.',
  },
  OUT_OF_MEMORY: {
    source: 'external',
    exit: 3,
    meaning: 'This machine has less memory than the engine or its verification needs.',
  },
  BASELINE_UNAVAILABLE: {
    source: 'external',
    exit: 3,
    meaning: 'The baseline engine is not installed or does not start here.',
  },
  ENGINE_CRASHED: {
    source: 'internal',
    exit: 4,
    meaning: 'The engine process ended or fell silent in the middle of a request.',
  },
  SETTINGS_INVALID: {
    source: 'user',
    exit: 2,
    meaning: 'A setting of the app is missing or wrong; each is listed with how to set it right.',
  },
  REPOSITORY_CONFIG_INVALID: {
    source: 'user',
    exit: 2,
    meaning: '.github/metainfer.yml of the repository has problems; each is listed with its place.',
  },
  BRANCH_MOVED: {
    source: 'user',
    exit: 2,
    meaning: 'Somebody else pushed to the branch of an engine; nothing was overwritten.',
  },
  NOT_PERMITTED: {
    source: 'user',
    exit: 2,
    meaning: 'The app or the person lacks a permission; the message says which and who can grant it.',
  },
  WORKFLOW_MISSING: {
    source: 'user',
    exit: 2,
    meaning: 'The default branch lacks the engine workflow, or holds another text than the pinned one.',
  },
  DATABASE_UNAVAILABLE: {
    source: 'external',
    exit: 3,
    meaning: 'The database cannot be opened, or another process holds its folder.',
  },
  GITHUB_UNAVAILABLE: {
    source: 'external',
    exit: 3,
    meaning: 'GitHub did not answer as it should, several times in a row.',
  },
  RUNNER_FAILED: {
    source: 'external',
    exit: 3,
    meaning: 'The workflow run ended without a result of the harness.',
  },
  REPORT_REJECTED: {
    source: 'external',
    exit: 3,
    meaning: 'What the runner uploaded does not belong to the request or breaks the rules for reports.',
  },
  MODEL_UNAVAILABLE: {
    source: 'external',
    exit: 3,
    meaning:
      'The language model endpoint cannot be reached, refuses the key, or does not answer as it should.',
  },
  BUDGET_EXHAUSTED: {
    source: 'user',
    exit: 2,
    meaning: 'What agents may spend is used up, or is less than one call needs.',
  },
  INTERNAL: {
    source: 'internal',
    exit: 4,
    meaning: 'A fault of this program; please report it with the run id.',
  },
} as const satisfies Record<
  string,
  { source: 'user' | 'external' | 'internal'; exit: 2 | 3 | 4; meaning: string }
>;

export type ErrorCode = keyof typeof errorCodes;

/**
 * A refusal with a code. The message is one or more lines of plain text for the person who asked:
 * what, where, what was expected, what to do. Never a stack trace.
 */
export class AppError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'AppError';
    this.code = code;
  }

  get source(): 'user' | 'external' | 'internal' {
    return errorCodes[this.code].source;
  }

  get exitCode(): 2 | 3 | 4 {
    return errorCodes[this.code].exit;
  }
}
