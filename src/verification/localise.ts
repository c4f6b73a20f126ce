import type { Finding, Report } from '../model/report.ts';

/** A contract blamed by a report, and why. */
export interface Suspect {
  readonly contract: string;
  readonly reason: string;
}

/**
 * From what is most specific to what is least. A unit gate tests one contract with everything below it, so among its
 * findings the most upstream contract is the cause and the others are consequences; the trace names the first
 * sub-block that diverges; the other gates name a likely owner.
 */
const gateOrder: readonly Finding['gate'][] = [
  ...(['static', 'build', 'unit', 'trace', 'ledger', 'logits', 'text', 'edges', 'equivalence'] as const),
  ...(['determinism', 'physics', 'bench'] as const),
];

/** Contracts in the order in which they depend on each other; what stands first can't be broken by what follows. */
const upstreamOrder: readonly string[] = [
  ...['runtime.context', 'cuda.instructions', 'runtime.memory', 'runtime.cuda', 'runtime.vectors'],
  ...['runtime.threading', 'format.json', 'checkpoint.safetensors', 'checkpoint.config'],
  ...[
    'norm.rms',
    'norm.rms-offset',
    'position.rope-frequencies',
    'position.rope',
    'linear.fragments',
    'linear.dense',
    'kv.cache',
  ],
  ...['attention.core', 'attention.capped', 'attention.block', 'attention.sandwich'],
  ...['mlp.gated', 'moe.router', 'mlp.experts', 'mlp.sandwich'],
  ...['embedding.token', 'embedding.scaled', 'head.logits', 'head.capped', 'decoder.model'],
  ...['text.unicode', 'text.utf8', 'text.normalizer', 'text.pre-tokenizer', 'text.bpe', 'text.tokenizer'],
  ...['text.stop', 'sampling.token', 'text.generation', 'harness.protocol', 'interface.cli'],
];

function upstreamRank(contract: string): number {
  const rank = upstreamOrder.indexOf(contract);
  return rank < 0 ? upstreamOrder.length : rank;
}

/** Every contract that the report's findings name, the likeliest first. Sees the report only. */
export function localise(report: Pick<Report, 'gates'>): Suspect[] {
  const findings = report.gates
    .flatMap((gate) => gate.findings)
    .filter((finding) => finding.contract !== null);
  const sorted = [...findings].sort(
    (a, b) =>
      gateOrder.indexOf(a.gate) - gateOrder.indexOf(b.gate) ||
      upstreamRank(a.contract!) - upstreamRank(b.contract!),
  );
  const suspects = new Map<string, Suspect>();
  for (const finding of sorted) {
    const contract = finding.contract!;
    if (!suspects.has(contract))
      suspects.set(contract, { contract, reason: `${finding.gate}: ${finding.message}` });
  }
  return [...suspects.values()];
}
