import type { ContractChange, KnowledgeDiff } from '../../model/knowledge-diff.ts';

/** For a terminal: the effect first, then what it follows from. */
export function renderDiff({ contracts, facts, cells, effect }: KnowledgeDiff): string {
  const moves = cells.map(
    ({ row, platform, weights, from, to }) =>
      `${row}, ${platform} ${weights}: ${from ?? 'not there'} -> ${to ?? 'not there'}`,
  );
  return [
    effect,
    section('Contracts', contracts.map(showContract)),
    section('Facts', facts),
    section('Coverage', moves),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function showContract({ contract, change, from, to, parts }: ContractChange): string {
  if (change === 'added') return `${contract} ${to}: added`;
  if (change === 'removed') return `${contract} ${from}: removed`;
  return `${contract} ${from === to ? to : `${from} -> ${to}`}: ${parts.join(', ')}`;
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
