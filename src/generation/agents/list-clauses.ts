import { type ContractBrief, symbolName } from './contract-brief.ts';

/** One statement of a contract that code can meet or break. */
export interface Clause {
  /** `symbol:rms_norm`, `errors:rms_norm`, `numerics:tolerance`, `invariant:eps-inside`, `steps:2`, `edges:3`. */
  readonly id: string;
  readonly text: string;
}

/** Parts of a contract's text that explain and demand nothing. */
const explaining: ReadonlySet<string> = new Set(['example', 'cost']);

/** Every statement of the contract, numbered, in its own words and order. */
export function listClauses(contract: ContractBrief): Clause[] {
  return [
    ...contract.symbols.flatMap(symbolClauses),
    ...numericsClauses(contract),
    ...contract.invariants.map(({ id, says }) => ({ id: `invariant:${id}`, text: says })),
    ...bodySections(contract.body).flatMap(({ title, text }) => sectionClauses(title, text)),
  ];
}

function symbolClauses(symbol: ContractBrief['symbols'][number]): Clause[] {
  const name = symbolName(symbol.signature);
  const facts = [
    symbol.signature,
    ...Object.entries(symbol.shapes ?? {}).map(([key, shape]) => `${key}: [${shape.join(', ')}]`),
    ...Object.entries(symbol.dtypes ?? {}).map(([key, dtype]) => `${key}: ${dtype}`),
    ...(['layout', 'aliasing', 'threads'] as const).flatMap((key) =>
      symbol[key] === undefined ? [] : [`${key}: ${symbol[key]}`],
    ),
  ];
  return [
    { id: `symbol:${name}`, text: facts.join(' · ') },
    { id: `errors:${name}`, text: `${name}: errors: ${symbol.errors}` },
  ];
}

function numericsClauses({ numerics }: ContractBrief): Clause[] {
  if (numerics === undefined) return [];
  const { nmse, max_abs: maxAbs } = numerics.tolerance;
  return [
    { id: 'numerics:accumulate', text: `sums are kept in ${numerics.accumulate}` },
    { id: 'numerics:tolerance', text: `NMSE at most ${nmse}, largest error at most ${maxAbs}` },
  ];
}

interface BodySection {
  readonly title: string;
  readonly text: string;
}

/** The `##` sections of a contract's text. */
export function bodySections(body: string): BodySection[] {
  const parts = body.split(/^## +/m).slice(1);
  return parts.map((part) => {
    const end = part.indexOf('\n');
    return { title: part.slice(0, end).trim(), text: part.slice(end + 1).trim() };
  });
}

function sectionClauses(title: string, text: string): Clause[] {
  const slug = /^[\w ]+/.exec(title)?.[0].trim().toLowerCase().replace(/ /g, '-') ?? 'text';
  if (explaining.has(slug)) return [];
  const isList = text.includes(' · ') && !text.includes('\n');
  const pieces = isList ? text.split(' · ') : splitBlocks(text);
  return pieces
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')
    .map((piece, index) => ({ id: `${slug}:${index + 1}`, text: piece }));
}

/** Paragraphs, list items, tables and fenced blocks, each whole. */
function splitBlocks(text: string): string[] {
  const blocks: string[] = [];
  let isFenced = false;
  let isOpen = false;
  for (const line of text.split('\n')) {
    const isFence = line.startsWith('```');
    const begins = !isFenced && (isFence || /^(?:- |\d+\. |### )/.test(line));
    if (!isFenced && line.trim() === '') isOpen = false;
    else if (begins || !isOpen) blocks.push(line);
    else blocks.push(`${blocks.pop() ?? ''}\n${line}`);
    if (line.trim() !== '' || isFenced) isOpen = !(isFenced && isFence);
    if (isFence) isFenced = !isFenced;
  }
  return blocks;
}
