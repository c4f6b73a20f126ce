import type { Contract, ContractFrontMatter, Gate } from '../../model/contract.ts';

/**
 * A contract as an agent may see it. It has no field for a realization, for evidence or for a shim: what is not here
 * cannot get into a prompt.
 */
export interface ContractBrief {
  readonly id: string;
  readonly version: string;
  readonly summary: string;
  readonly header: { readonly name: string; readonly text: string };
  readonly symbols: ContractFrontMatter['provides']['symbols'];
  readonly requires: readonly string[];
  /** Constants of config.h that its source may use. */
  readonly config: readonly string[];
  readonly numerics: ContractFrontMatter['numerics'];
  readonly invariants: ContractFrontMatter['invariants'];
  readonly gates: readonly string[];
  readonly failureModes: readonly string[];
  readonly gate: Gate | undefined;
  readonly body: string;
}

export function briefContract(contract: Contract): ContractBrief {
  const { frontMatter, header, gate, body } = contract;
  return {
    id: frontMatter.id,
    version: frontMatter.version,
    summary: frontMatter.summary,
    header: { name: header.name, text: header.text },
    symbols: frontMatter.provides.symbols,
    requires: frontMatter.requires,
    config: frontMatter.config,
    numerics: frontMatter.numerics,
    invariants: frontMatter.invariants,
    gates: frontMatter.gates,
    failureModes: frontMatter.failure_modes,
    gate,
    body,
  };
}

/** The one file that an agent writes for it. */
export function sourcePath(contract: Pick<ContractBrief, 'header'>): string {
  return contract.header.name.replace(/\.h$/, '.cpp');
}

/** `void rms_norm(Context& ctx, …);` → rms_norm; types give their own name. */
export function symbolName(signature: string): string {
  const type = /^\s*(?:enum\s+class|struct|class|using|enum)\s+(\w+)/.exec(signature)?.[1];
  return type ?? /([A-Za-z_]\w*)\s*\(/.exec(signature)?.[1] ?? signature.trim();
}
