import type { Capability, CommandName } from '../model/github.ts';

export interface CommandDescription {
  readonly name: CommandName;
  readonly summary: string;
  /** Arguments `name=value` and the values that each may have. */
  readonly arguments: Readonly<Record<string, readonly string[]>>;
  /** The rest of the line is text of the writer's own, given as the argument `what`. */
  readonly freeText?: { readonly shown: string; readonly maximum: number };
  /** What somebody must be allowed to do for it. */
  readonly capability: Capability;
  readonly example: string;
}

/** Every command, in the order of help. The parser, help and the authorizer know no other. */
export const commandTable: readonly CommandDescription[] = [
  {
    name: 'plan',
    summary: 'says what knowledge covers, the physical limit and what is needed; makes nothing',
    arguments: {},
    capability: 'plan',
    example: '/metainfer plan',
  },
  {
    name: 'generate',
    summary: 'generates the engine, opens its pull request and has a runner verify it',
    arguments: {},
    capability: 'generate',
    example: '/metainfer generate',
  },
  {
    name: 'fix',
    summary:
      'has a model correct a file that it wrote: on the line in question, or in the conversation with the file first, as in `norm_rms.cpp the mean leaves out the last column`',
    arguments: {},
    freeText: { shown: '<what is wrong>', maximum: 1000 },
    capability: 'generate',
    example: '/metainfer fix the mean leaves out the last column',
  },
  {
    name: 'bench',
    summary: 'verifies and times the engine again, beside llama.cpp or alone',
    arguments: { baseline: ['llama.cpp', 'none'] },
    capability: 'runner',
    example: '/metainfer bench baseline=llama.cpp',
  },
  {
    name: 'retry',
    summary: 'repeats the last run: from verification where its engine is published, else from the start',
    arguments: {},
    capability: 'runner',
    example: '/metainfer retry',
  },
  {
    name: 'cancel',
    summary: 'stops the run that is under way',
    arguments: {},
    capability: 'runner',
    example: '/metainfer cancel',
  },
  {
    name: 'status',
    summary: 'says where the run stands and checks how this repository is set up',
    arguments: {},
    capability: 'read',
    example: '/metainfer status',
  },
  {
    name: 'help',
    summary: 'shows this list',
    arguments: {},
    capability: 'read',
    example: '/metainfer help',
  },
];

/** The description of a command. */
export function describeCommand(name: CommandName): CommandDescription {
  return commandTable.find((command) => command.name === name)!;
}
