import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitFindings, toRepairFinding } from '../../../src/generation/agents/repair-finding.ts';
import { checkContract } from '../../../src/local/agents/check-contract.ts';
import { readSabotageFile } from '../../../src/local/sabotage-campaign.ts';
import { RepairFinding } from '../../../src/model/agent-work.ts';
import type { Contract } from '../../../src/model/contract.ts';
import { type Finding, gateNames } from '../../../src/model/report.ts';
import type { SabotageEntry } from '../../../src/model/sabotage.ts';
import { makeFinding } from '../../../src/verification/gate-context.ts';
import { judgeTrace } from '../../../src/verification/gates/trace.ts';
import { isLacking } from '../../fixtures/needed-tool.ts';
import { type AgentSubject, openSubject, replacing, withText } from '../../local/agents/agent-subject.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-findings-'));
let subject: AgentSubject;
let mistakes: readonly SabotageEntry[];
beforeAll(async () => {
  subject = await openSubject(root);
  mistakes = (await readSabotageFile()).mutations;
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function contractOf(id: string): Contract {
  return subject.catalog.contracts.find(({ frontMatter }) => frontMatter.id === id)!;
}

/** Gate, place, expected and got, and the contract's clause: what a repair needs to begin. */
function expectSufficient(finding: RepairFinding, owner: Contract): void {
  expect(RepairFinding.parse(finding)).toEqual(finding);
  const { frontMatter, body, gate } = owner;
  expect(finding.contract).toBe(frontMatter.id);
  expect(gateNames).toContain(finding.source);
  expect(finding.file).toMatch(/\.(?:cpp|h)$/);
  const place = `${finding.line === null ? '' : `line ${finding.line}`} ${finding.message} ${finding.expected}`;
  expect(place).toMatch(/\b(?:line|case|stage|tensor|position|step|process|model|slot) \S/);
  expect(finding.expected).toMatch(/\S/);
  expect(finding.got).toMatch(/\S/);
  expect(finding.got).not.toBe(finding.expected);
  const ownWords = [
    ...frontMatter.invariants.map(({ says }) => says),
    ...frontMatter.provides.symbols.map(({ signature }) => signature),
    ...(gate?.cases.map(({ id, says }) => says ?? `case ${id}:`) ?? []),
    ...body.split('\n\n').map((paragraph) =>
      paragraph
        .replace(/^## Meaning\n/, '')
        .trim()
        .slice(0, 900),
    ),
    'rules for the file',
  ].filter((text) => text !== '');
  expect(ownWords.some((text) => finding.clause!.includes(text))).toBe(true);
}

async function checkWith(contract: string, change: (text: string) => string): Promise<RepairFinding[]> {
  const { prepared, cacheFolder, toolchain } = subject;
  const findings = await checkContract({
    ...{ prepared, contract, toolchain, cacheFolder, runSeed: 11 },
    agentFiles: withText(subject.files, contract, change),
    signal: new AbortController().signal,
  });
  return findings.map((finding) => toRepairFinding(finding, contractOf(contract)));
}

/** A sample; the fault tables of the full tier show all of them. */
const sample = [
  'rope-interleaved',
  'gqa-map-by-remainder',
  'norm-eps-outside-root',
  'top-k-one-too-many',
  'utf8-split',
];

describe.skipIf(isLacking('bubblewrap'))('what an agent is told of a mistake', () => {
  it.each(sample)('%s: gate, place, expected and got, clause', async (id) => {
    const entry = mistakes.find((candidate) => candidate.id === id)!;
    const change = (text: string) =>
      entry.edits.reduce((before, { find, replace }) => replacing(find, replace)(before), text);
    const findings = await checkWith(entry.contract, change);
    expect(findings.length).toBeGreaterThan(0);
    for (const finding of findings) expectSufficient(finding, contractOf(entry.contract));
  });

  it.each<[string, (text: string) => string, Partial<RepairFinding>]>([
    ['a syntax error', (text) => text.replace('const float mean', 'const flaot mean'), { source: 'build' }],
    ['a warning', (text) => text.replace('{\n', '{\n  int unused = 3;\n'), { source: 'build' }],
    [
      'a crash',
      (text) => text.replace(/(void rms_norm\([^{]*\{\n)/, '$1  __builtin_trap();\n'),
      { source: 'unit' },
    ],
    [
      'an exception',
      (text) => text.replace(/(void rms_norm\([^{]*\{\n)/, '$1  throw EngineError("no");\n'),
      { source: 'unit' },
    ],
    [
      'a forbidden call',
      (text) => text.replace(/(void rms_norm\([^{]*\{\n)/, '$1  std::getenv("HOME");\n'),
      { source: 'static' },
    ],
  ])('of %s', async (_, change, wanted) => {
    const findings = await checkWith('norm.rms', change);
    expect(findings.length).toBeGreaterThan(0);
    for (const finding of findings) {
      expect(finding).toMatchObject(wanted);
      expectSufficient(finding, contractOf('norm.rms'));
    }
  });
});

describe('a finding of the whole engine', () => {
  it('of the trace keeps stage, element, both values and figures', () => {
    const { facts } = subject.prepared.request.model;
    const rows = 3 * facts.hiddenSize;
    const wanted = Array.from({ length: 4 }, () =>
      Float64Array.from({ length: rows }, (_, at) => Math.sin(at)),
    );
    const got = wanted.map((stage, at) => Float32Array.from(stage, (value) => (at < 2 ? value : -value)));
    const [finding] = judgeTrace(facts, wanted, got).findings;
    const told = toRepairFinding(finding!, contractOf(finding!.contract!));
    expectSufficient(told, contractOf(finding!.contract!));
    expect(told.expected).toMatch(/^-?[\d.]+.* \(.*stage 2, .*position \d, element \d+/);
    expect(told.got).toMatch(/^-?[\d.e-]+, nmse 4, cosine -1/);
  });

  it('without values says what the gate demands, where, and which statements it shows', () => {
    const finding = makeFinding('edges', 'decoder.model', 'token -1 was accepted instead of refused', {
      case: 'token -1',
    });
    const told = toRepairFinding(finding, contractOf('decoder.model'));
    expectSufficient(told, contractOf('decoder.model'));
    expect(told.expected).toContain('what is out of range is refused with a reason');
    expect(told.got).toBe('token -1 was accepted instead of refused');
    expect(told.clause).toContain('NaN in every unused place of cache and scratch changes nothing');
  });

  it('told to another suspect says where it was seen, and points into no foreign file', () => {
    const seen: Finding = makeFinding(
      'trace',
      'attention.block',
      'layer 0 after attention diverges',
      { stage: 1 },
      { file: 'attention_block.cpp', line: 12 },
    );
    const told = toRepairFinding(seen, contractOf('position.rope'));
    expect(told).toMatchObject({ contract: 'position.rope', file: 'position_rope.cpp', line: null });
    expect(told.message).toBe('seen at attention.block: layer 0 after attention diverges');
    expectSufficient(told, contractOf('position.rope'));
  });

  it('about a header keeps its place', () => {
    const seen = makeFinding(
      'build',
      'norm.rms',
      'no match for operator*',
      {},
      { file: 'runtime_threading.h', line: 38 },
    );
    expect(toRepairFinding(seen, contractOf('norm.rms'))).toMatchObject({
      file: 'runtime_threading.h',
      line: 38,
    });
  });

  it('is cut to what a run keeps, however long a compiler talks', () => {
    const long = makeFinding('build', 'norm.rms', 'x'.repeat(9000), {
      got: 'y'.repeat(5000),
      wanted: 'z'.repeat(5000),
    });
    expect(RepairFinding.safeParse(toRepairFinding(long, contractOf('norm.rms'))).success).toBe(true);
    const told = Array.from({ length: 30 }, (_, line) => ({
      ...toRepairFinding(long, contractOf('norm.rms')),
      line: (line % 20) + 1,
    }));
    expect(limitFindings(told)).toHaveLength(12);
    expect(limitFindings([...told.slice(0, 3), ...told.slice(0, 3)])).toHaveLength(3);
  });
});
