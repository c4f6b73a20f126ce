import { inlineText } from '../model/escape-text.ts';
import type { GateResult } from '../model/report.ts';
import { placeWords } from '../model/show-verdict.ts';
import { gateMeaning } from './gate-meaning.ts';
import { table } from './markdown.ts';

export const gateWords: Readonly<Record<GateResult['status'], string>> = {
  passed: '✅ passed',
  failed: '❌ failed',
  skipped: '⚠️ not run',
  'not-applicable': '– not applicable',
  'not-run': '⚪ not run',
};

/** Every gate with its outcome, and with where it ran for engines that have more than one place to run. */
export function renderGates(gates: readonly GateResult[]): string {
  const hasPlaces = gates.some(({ ranOn, status }) => ranOn !== undefined || status === 'not-run');
  const rows = gates.map((gate) => [
    `\`${gate.gate}\``,
    gate.reason === null
      ? gateWords[gate.status]
      : `${gateWords[gate.status]}: ${inlineText(gate.reason, 160)}`,
    ...(hasPlaces ? [placeWords(gate)] : []),
    gate.findings.length === 0 ? '' : String(gate.findings.length),
    `${gate.seconds.toFixed(1)} s`,
    gateMeaning[gate.gate],
  ]);
  const head = ['Gate', 'Outcome', ...(hasPlaces ? ['Where'] : []), 'Findings', 'Time', 'Holds that'];
  return table(head, rows, hasPlaces ? [3, 4] : [2, 3]);
}
