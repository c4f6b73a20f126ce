import type { Gate } from '../../model/contract.ts';
import type { PromptSection } from '../../model/language-model.ts';
import type { ContractBrief } from './contract-brief.ts';
import type { ContractTask } from './contract-task.ts';
import { bodySections } from './list-clauses.ts';

/** The contract in its own words. Its first line tells every reader, and every record, what the question is about. */
export function contractSection(contract: ContractBrief): PromptSection {
  const { id, version, summary, invariants, body } = contract;
  const parts = [
    `contract: ${id}\nversion ${version}: ${summary}`,
    `### Symbols\n${contract.symbols.map(describeSymbol).join('\n')}`,
    describeNumerics(contract),
    `### Invariants\n${invariants.map((entry) => `- ${entry.id}: ${entry.says} (seen by ${entry.gate})`).join('\n')}`,
    body.trim().replace(/^## /gm, '### '),
  ];
  return { title: 'The contract', text: parts.filter((part) => part !== '').join('\n\n'), priority: 0 };
}

function describeSymbol(symbol: ContractBrief['symbols'][number]): string {
  const shapes = Object.entries(symbol.shapes ?? {}).map(([name, shape]) => `${name} [${shape.join(', ')}]`);
  const dtypes = Object.entries(symbol.dtypes ?? {}).map(([name, dtype]) => `${name} ${dtype}`);
  const facts = [
    ...(shapes.length === 0 ? [] : [`shapes: ${shapes.join(', ')}`]),
    ...(dtypes.length === 0 ? [] : [`dtypes: ${dtypes.join(', ')}`]),
    ...(['layout', 'aliasing', 'threads'] as const).flatMap((key) =>
      symbol[key] === undefined ? [] : [`${key}: ${symbol[key]}`],
    ),
    `errors: ${symbol.errors}`,
  ];
  return [`- \`${symbol.signature}\``, ...facts.map((fact) => `  - ${fact}`)].join('\n');
}

function describeNumerics({ numerics }: ContractBrief): string {
  if (numerics === undefined) return '';
  const { nmse, max_abs: maxAbs } = numerics.tolerance;
  return `### Numerics\nSums are kept in ${numerics.accumulate}. Against a float64 reference: NMSE at most ${nmse}, largest error at most ${maxAbs}.`;
}

export function ownHeaderSection({ header }: ContractBrief): PromptSection {
  return { title: `Header to implement: ${header.name}`, text: fence(header.text, 'cpp'), priority: 0 };
}

/** The headers that may be included, each once, in the order in which they build on each other. */
export function headerSections({ available }: ContractTask): PromptSection[] {
  return available.map(({ brief }) => ({
    title: `Header of ${brief.id}: ${brief.header.name}`,
    text: fence(brief.header.text, 'cpp'),
    priority: 1,
  }));
}

export function configSection({ contract, configText }: ContractTask): PromptSection {
  const allowed =
    contract.config.length === 0
      ? `The source of ${contract.id} uses no constant of config.h: every size comes from an argument.`
      : `The source of ${contract.id} may use exactly these: ${contract.config.map((name) => `config::${name}`).join(', ')}.`;
  const shown =
    configText === ''
      ? ''
      : `\n\nAs this engine has them; the unit gate compiles the same source with other values as well:\n${fence(configText, 'cpp')}`;
  return { title: 'config.h', text: `${allowed}${shown}`, priority: 0 };
}

/** What is to be built: for contracts whose text tells variants apart, and for choices that depend on sizes. */
export function variantSection({ target, sizes, platform }: ContractTask): PromptSection {
  const list = (values: Readonly<Record<string, unknown>>) =>
    Object.entries(values)
      .map(([key, value]) => `${key}=${value}`)
      .join(', ');
  const text = [
    `Variant, compiled in and without a branch at run time: ${list(target)}.`,
    `Sizes of this model and workload, for judging cost only: ${list(sizes)}.`,
    `Platform ${platform.id}: ${platform.compiler} ${platform.flags.join(' ')}; ${platform.vectorWidth} f32 lanes.`,
  ].join('\n');
  return { title: 'Target', text, priority: 0 };
}

/** Which cases the unit gate runs; the values are drawn anew each time. */
export function gateSection({ gate, gates, id }: ContractBrief): PromptSection[] {
  const others = gates.filter((name) => name !== 'gate.yaml');
  const whole = others.length === 0 ? '' : `\nIn the whole engine: ${others.join(', ')}.`;
  if (gate === undefined) {
    return [{ title: 'How it is judged', text: `${id} has no unit gate.${whole}`, priority: 2 }];
  }
  const configs = gate.configs.map((entry) =>
    Object.keys(entry).length === 0 ? 'small base' : JSON.stringify(entry),
  );
  const text = [
    `Unit gate, with this engine's constants${configs.length === 0 ? '' : ` and with: ${configs.join('; ')}`}.`,
    ...gate.cases.map(describeCase),
  ];
  return [{ title: 'How it is judged', text: `${text.join('\n')}${whole}`, priority: 2 }];
}

function describeCase(unit: Gate['cases'][number]): string {
  const inputs = Object.entries(unit.inputs).map(([name, { shape, fill, dtype }]) => {
    const type = dtype === 'f32' ? '' : ` ${dtype}`;
    return `${name} [${shape.join(', ')}]${type} ${fill}`;
  });
  const params = Object.entries(unit.params ?? {}).map(([name, value]) => `${name}=${value}`);
  const alone = unit.rows_alone === undefined ? [] : ['each row alone gives the same bits'];
  const exact = unit.exact === true ? ['bit for bit'] : [];
  const facts = [...inputs, ...params, ...alone, ...exact].join('; ');
  return `- ${unit.id} (${unit.op})${unit.says === undefined ? '' : `: ${unit.says}`} — ${facts}`;
}

/** What the functions of required contracts demand and promise, beyond their headers. */
export function requirementSections({ available }: ContractTask): PromptSection[] {
  return available
    .filter(({ isDirect }) => isDirect)
    .map(({ brief }) => {
      const meaning = bodySections(brief.body).find(({ title }) => title === 'Meaning')?.text ?? '';
      const symbols = brief.symbols.filter(saysMoreThanHeader).map(describeSymbol).join('\n');
      return { title: `What ${brief.id} promises`, text: `${symbols}\n\n${meaning}`, priority: 3 };
    });
}

function saysMoreThanHeader({ errors, ...symbol }: ContractBrief['symbols'][number]): boolean {
  return Object.keys(symbol).length > 1 || !errors.startsWith('none');
}

export function failureSections({ failureModes }: ContractTask): PromptSection[] {
  return failureModes.map(({ title, text }) => ({
    title: `Known failure: ${title}`,
    text: text.replace(/^## /gm, '### '),
    priority: 4,
  }));
}

/**
 * Findings as JSON, one a line: their texts come from compilers, engines and people, and are data wherever they come
 * from.
 */
export function findingSections({ findings, path, previous }: ContractTask): PromptSection[] {
  const told: PromptSection[] =
    findings.length === 0
      ? []
      : [
          {
            title: 'Findings',
            text: findings.map((finding) => JSON.stringify(withoutNulls(finding))).join('\n'),
            priority: 0,
          },
        ];
  const earlier: PromptSection[] =
    previous === null
      ? []
      : [
          {
            title: `Your last ${path}, to which the findings refer`,
            text: fence(previous, 'cpp'),
            priority: 2,
          },
        ];
  return [...told, ...earlier];
}

function withoutNulls(finding: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(finding).filter(([, value]) => value !== null));
}

export function sourceSections({ sourceFiles }: ContractTask): PromptSection[] {
  return sourceFiles.map(({ path, text }) => ({
    title: `Source for reference: ${path.replace(/[^\w./-]/g, '_')}`,
    text: fence(text, ''),
    priority: 5,
  }));
}

/** A fence longer than any run of backticks inside. */
export function fence(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const mark = '`'.repeat(longest + 1);
  return `${mark}${language}\n${text.trimEnd()}\n${mark}`;
}
