import type { ContractAccount, RealizationAccount } from '../../model/contract-account.ts';

/** For a terminal. */
export function renderAccount(account: ContractAccount): string {
  const { id, version, layer, summary, folder, appliesWhen, realizations } = account;
  const applies = appliesWhen.length === 0 ? 'every engine' : appliesWhen.join(', ');
  const unit = account.unitCases === null ? [] : [`unit gate with ${account.unitCases} cases`];
  const gates = [...unit, ...account.gates.filter((name) => name !== 'gate.yaml')].join(', ');
  return [
    `${id} ${version} (${layer}): ${summary}\n${folder}/contract.md\nApplies to: ${applies}`,
    section('Interface', account.signatures),
    section('Needs', account.requires),
    section(
      'Needed by',
      account.requiredBy.map(({ contract, by }) =>
        by === 'contract' ? contract : `${contract} (${by.join(', ')})`,
      ),
    ),
    account.isHeaderOnly
      ? 'Realizations: none, the header is the whole contract'
      : section('Realizations', realizations.map(showRealization)),
    section('Gates', gates === '' ? [] : [gates]),
    section(
      'Invariants',
      account.invariants.map(({ id: name, says, gate }) => `${name}: ${says} (${gate})`),
    ),
    section(
      'Known ways to fail',
      account.failureModes.map(({ id: name, title, symptom }) => `${name} ${title}: ${symptom}`),
    ),
    section('Gaps', account.gaps),
    section('Sources', account.sources),
  ].join('\n\n');
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? `${title}: none` : `${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

function showRealization({ file, applies, requires, replaces, fuses, evidence }: RealizationAccount): string {
  const lists = [
    requires.length > 0 ? [`needs ${requires.join(', ')}`] : [],
    replaces.length > 0 ? [`replaces ${replaces.join(', ')}`] : [],
    fuses.length > 0 ? [`fuses ${fuses.join(', ')}`] : [],
  ].flat();
  const proofs = evidence.map(
    ({ platform, arch, weights, state, says }) => `\n    ${platform} ${arch} ${weights}: ${state}, ${says}`,
  );
  const commands = [
    ...new Set(evidence.flatMap(({ repeat }) => (repeat.length === 0 ? [] : [repeat.join(' && ')]))),
  ];
  const repeats = commands.map((command) => `\n    repeat with: ${command}`);
  const head = [`${file}: ${applies.length === 0 ? 'any target' : applies.join(', ')}`, ...lists].join('; ');
  return `${head}${proofs.join('')}${repeats.join('')}`;
}
