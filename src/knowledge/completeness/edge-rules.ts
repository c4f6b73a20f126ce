import {
  type ContractPage,
  hasWord,
  type Requirement,
  requireField,
  requireText,
  sectionLine,
  sectionText,
} from './requirement.ts';
import { parseSignature } from './signature.ts';

/** Edge cases that follow from the interface, and gates that try each symbol. */
export function checkEdges(page: ContractPage): Requirement[] {
  const { frontMatter } = page.loaded.contract;
  const edges = sectionText(page, 'Edges');
  const line = sectionLine(page, 'Edges');
  const signatures = frontMatter.provides.symbols
    .map(({ signature }) => parseSignature(signature))
    .filter(({ isFunction }) => isFunction);
  const isByRows = signatures.some(({ parameters }) => parameters.some(({ name }) => name === 'num_rows'));
  const readsText = signatures.some(({ parameters }) =>
    parameters.some(({ type }) => type === 'std::string_view'),
  );
  const ask = (rule: string, isMet: boolean, missing: string, severity: 'error' | 'warning' = 'error') =>
    requireText(page, `edge-${rule}`, line, isMet, missing, severity);
  return [
    ...(isByRows
      ? [
          ask(
            'one',
            /\b(?:1|one) rows?\b|\brows? 1\b|\b1, \d|\bsingle\b|\bN = 1\b|\bnum_rows 1\b/.test(edges),
            'one row is not among the edges',
            'warning',
          ),
        ]
      : []),
    ...(isByRows
      ? [
          ask(
            'many',
            /\brows\b|\bnum_rows\b|\bseveral\b|\bids\b/.test(edges),
            'several rows are not among the edges',
          ),
        ]
      : []),
    ...(readsText
      ? [
          ask(
            'empty',
            /\bempty\b|\bno (?:bytes|symbols|text|\w+ at all)\b|\b0 (?:bytes|ids)\b|U\+0000/i.test(edges),
            'an empty text is not among the edges',
          ),
        ]
      : []),
    ...(frontMatter.numerics !== undefined && /f32|f64/.test(frontMatter.numerics.accumulate)
      ? [
          ask(
            'non-finite',
            /NaN|∞|infinit|finite|overflow|−inf/i.test(page.body),
            'what NaN or an infinity does is not said',
            'warning',
          ),
        ]
      : []),
    ...(['max_rows', 'max_context', 'max_batch'] as const)
      .filter((name) => frontMatter.config.includes(name))
      .map((name) =>
        requireText(
          page,
          'edge-maximum',
          line,
          hasWord(edges, name) || isBounded(page, name),
          `the largest value of ${name} is not among the edges`,
          'warning',
        ),
      ),
    ...checkGateCalls(page),
  ];
}

/** The bound stands in the text or in what is an error. */
function isBounded({ demands, loaded }: ContractPage, name: string): boolean {
  return hasWord(demands, name) || hasWord(JSON.stringify(loaded.contract.frontMatter.provides), name);
}

/** Where there is a gate.yaml, its shim calls every function of the contract. */
function checkGateCalls(page: ContractPage): Requirement[] {
  const { shim, gate, frontMatter } = page.loaded.contract;
  if (gate === undefined || shim === undefined) {
    return [
      requireField(
        page,
        'gate',
        ['gates'],
        frontMatter.gates.length > 0,
        'no gate shows whether an implementation is right',
      ),
    ];
  }
  return frontMatter.provides.symbols.flatMap(({ signature }, index) => {
    const { name, isFunction, isInline } = parseSignature(signature);
    if (!isFunction || isInline) return [];
    return [
      requireField(
        page,
        'gate',
        ['provides', 'symbols', index, 'signature'],
        hasWord(shim.text, name) || frontMatter.gates.length > 1,
        `no case of gate.yaml calls ${name}`,
      ),
    ];
  });
}
