import type { GateName } from '../model/report.ts';

/** What each gate holds an engine to, in their order, for somebody who sees the name for the first time. */
export const gateMeaning: Readonly<Record<GateName, string>> = {
  static: 'the files are what the contracts and the rules for generated code say',
  build: 'it compiles without a warning, plainly and with sanitizers',
  ledger: 'every tensor is read exactly once and changes the result',
  unit: 'each contract alone agrees with its reference',
  trace: 'the hidden state after each sub-block agrees with the reference',
  logits: 'the logits agree with the reference',
  edges: 'lengths around block borders, and full or poisoned caches, change nothing',
  equivalence: 'prefill equals decode, a batch equals its sequences one by one',
  text: 'tokenizer, sampling, stops and command line do what they say',
  determinism: 'fresh processes give the same bytes',
  bench: 'timed results equal untimed ones',
  physics: 'it is no faster than the measured machine allows',
};
