import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Selection } from '../../src/model/catalog.ts';
import type { Finding, GateName, GateResult } from '../../src/model/report.ts';
import { diagnose } from '../../src/verification/diagnose.ts';
import { openSubject } from '../local/agents/agent-subject.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-diagnose-'));
let selection: Selection;
beforeAll(async () => {
  selection = (await openSubject(root)).prepared.selection;
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function finding(gate: GateName, contract: string | null, message = `${contract} is wrong`): Finding {
  return { gate, contract, file: null, line: null, message, evidence: {} };
}

function red(...findings: Finding[]): GateResult[] {
  const gates = [...new Set(findings.map(({ gate }) => gate))];
  return gates.map((gate) => ({
    ...{ gate, status: 'failed', reason: null, seconds: 1, measurements: {} },
    findings: findings.filter((entry) => entry.gate === gate),
  }));
}

/** Who is to write again, when agents wrote these contracts (default: all). */
function blame(gates: readonly GateResult[], options: { written?: string[]; tried?: string[] } = {}) {
  const all = selection.contracts
    .filter(({ status }) => status === 'agent')
    .map(({ contract }) => contract.frontMatter.id);
  return diagnose({
    ...{ gates, selection, written: new Set(options.written ?? all) },
    tried: new Set(options.tried ?? []),
  });
}

const names = (suspects: readonly { contract: string }[]) => suspects.map(({ contract }) => contract);

describe('gates that judge contracts by themselves', () => {
  it('blame every contract that does not compile, and of wrong results those that come first', () => {
    const diagnosis = blame(
      red(
        finding('build', 'head.logits'),
        finding('unit', 'kv.cache'),
        finding('unit', 'attention.core'),
        finding('unit', 'attention.block'),
        finding('unit', 'text.utf8'),
      ),
    );
    expect(names(diagnosis.guilty).sort()).toEqual(['head.logits', 'kv.cache', 'text.utf8']);
    expect(diagnosis).toMatchObject({ isContractLevel: true, isAmbiguous: false });
    expect(diagnosis.guilty.find(({ contract }) => contract === 'kv.cache')?.evidence).toEqual([
      'unit: kv.cache is wrong',
    ]);
  });

  it('blame nobody where only knowledge is named', () => {
    const diagnosis = blame(red(finding('unit', 'kv.cache')), { written: ['text.utf8'] });
    expect(diagnosis).toEqual({ isContractLevel: true, suspects: [], guilty: [], isAmbiguous: false });
  });

  it('blame who calls a part of knowledge, nearest first, for what the running engine did with it', () => {
    const gates = red(finding('build', 'checkpoint.safetensors', 'a broken checkpoint was accepted'));
    const { guilty, suspects } = blame(gates, { written: ['text.utf8', 'interface.cli', 'decoder.model'] });
    expect(names(suspects)).toEqual(['decoder.model', 'interface.cli']);
    expect(names(guilty)).toEqual(['decoder.model']);
    expect(guilty[0]!.findings[0]).toMatchObject({ contract: 'decoder.model', gate: 'build' });
  });
});

describe('gates of the whole engine', () => {
  it('blame what the first diverging state names, and not what follows from it', () => {
    const diagnosis = blame(
      red(
        finding('trace', 'mlp.gated'),
        finding('logits', 'head.logits'),
        finding('edges', 'kv.cache'),
        finding('equivalence', 'decoder.model'),
      ),
    );
    expect(names(diagnosis.guilty)).toEqual(['mlp.gated']);
    expect(diagnosis).toMatchObject({ isContractLevel: false, isAmbiguous: false });
    expect(names(diagnosis.suspects)[0]).toBe('mlp.gated');
  });

  it('blame nobody further where a contract that is wrong by itself explains it', () => {
    const gates = red(finding('unit', 'norm.rms'), finding('trace', 'attention.block'));
    expect(names(blame(gates).guilty)).toEqual(['norm.rms']);
  });

  it('blame wrong numbers and wrong text apart', () => {
    const diagnosis = blame(red(finding('logits', 'head.logits'), finding('text', 'text.utf8')));
    expect(names(diagnosis.guilty)).toEqual(['head.logits', 'text.utf8']);
  });

  it('blame what an agent wrote below a realization, first what was never judged by itself', () => {
    const gates = red(finding('equivalence', 'decoder.model'));
    const one = blame(gates, { written: ['checkpoint.config', 'norm.rms', 'text.utf8'] });
    expect(names(one.guilty)).toEqual(['checkpoint.config']);
    expect(names(one.suspects)).toEqual(['checkpoint.config', 'norm.rms', 'text.utf8']);
    expect(one.isAmbiguous).toBe(false);
  });

  it('say so where several are equally suspect', () => {
    const { guilty, isAmbiguous, suspects } = blame(red(finding('logits', 'head.logits')), {
      written: ['linear.dense', 'runtime.threading', 'text.utf8'],
    });
    expect(isAmbiguous).toBe(true);
    expect(names(guilty)).toEqual(['linear.dense']);
    expect(guilty[0]?.findings[0]).toMatchObject({ contract: 'linear.dense', gate: 'logits' });
    expect(guilty[0]?.evidence[1]).toContain('its unit gate is green');
    expect(suspects.length).toBeGreaterThanOrEqual(1);
  });

  it('turn to the next suspect where the first was written again in vain', () => {
    const gates = red(finding('logits', 'head.logits'));
    expect(names(blame(gates).guilty)).toEqual(['head.logits']);
    const again = blame(gates, { tried: ['head.logits'] });
    expect(again.guilty[0]?.contract).not.toBe('head.logits');
    expect(again.guilty[0]?.distance).toBeGreaterThan(0);
  });

  it('blame nobody where all gates are green or nothing is written by agents', () => {
    expect(blame([])).toEqual({ isContractLevel: false, suspects: [], guilty: [], isAmbiguous: false });
    expect(blame(red(finding('trace', 'mlp.gated')), { written: [] }).guilty).toEqual([]);
  });
});
