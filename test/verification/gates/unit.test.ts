import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Gate } from '../../../src/model/contract.ts';
import { findToolchain, type Toolchain } from '../../../src/verification/build.ts';
import { runBuildGate } from '../../../src/verification/gates/build.ts';
import { runUnitGate } from '../../../src/verification/gates/unit.ts';
import { evaluateDimension, smallModel } from '../../../src/verification/gates/unit-models.ts';
import { probeSandbox } from '../../../src/verification/sandbox.ts';
import { fakeContext, fakeEngine } from '../fake-session.ts';

let root = '';
let toolchain: Toolchain;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'metainfer-unit-'));
  const sandbox = probeSandbox('auto');
  toolchain = await findToolchain({
    compiler: '/usr/bin/g++',
    flags: [],
    cacheFolder: join(root, 'cache'),
    jobs: 2,
    sandbox,
  });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const header =
  '#pragma once\n#include <vector>\nvoid scale(std::vector<float>& out, const std::vector<float>& x);\n';
const source = (body: string) =>
  `#include "scale_rows.h"\n#include "config.h"\nvoid scale(std::vector<float>& out, const std::vector<float>& x) {\n  ${body}\n}\n`;
const shim = `#include "shim.h"
#include "scale_rows.h"
#include "config.h"
void run_case(ShimCase& c) {
  c.out["out"] = shim_f32(c.in["x"].shape);
  scale(c.out["out"].f, c.in["x"].f);
  c.out["count"] = shim_i32({1});
  c.out["count"].i[0] = static_cast<int>(c.in["x"].f.size()) + static_cast<int>(c.numbers["extra"]);
}
`;
const reference = `export const ops = { scale: (unit) => ({
  out: { shape: unit.inputs.x.shape, data: unit.inputs.x.data.map((v) => v * unit.facts.hiddenSize) },
  count: { shape: [1], data: Int32Array.of(unit.inputs.x.data.length + unit.params.extra) },
}) };\n`;
const gate = Gate.parse({
  contract: 'scale.rows',
  configs: [{}, { hidden_size: 30 }],
  tolerance: { nmse: 1e-12, max_abs: 1e-3 },
  cases: [
    {
      id: 'basic',
      op: 'scale',
      params: { extra: 2 },
      inputs: { x: { shape: [5, 'hidden_size'], fill: 'normal', scale: 2 } },
      rows_alone: ['x'],
    },
  ],
});

function contextWith(name: string, body: string) {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'scale_rows.h'), header);
  writeFileSync(join(folder, 'scale_rows.cpp'), source(body));
  writeFileSync(
    join(folder, 'config.h'),
    `#pragma once\nnamespace config { inline constexpr int hidden_size = 6; }\n`,
  );
  const referencePath = join(root, 'reference.mjs');
  writeFileSync(referencePath, reference);
  const contract = {
    ...{
      id: 'scale.rows',
      header: 'scale_rows.h',
      source: 'scale_rows.cpp',
      requires: [],
      config: ['hidden_size'],
    },
    ...{ gate, shim, reference: referencePath },
  };
  return fakeContext(
    {},
    {
      toolchain,
      scratchFolder: join(root, `scratch-${name}`),
      engine: { ...fakeEngine, folder, contracts: [contract] },
      renderConfigHeader: ({ facts }) =>
        `#pragma once\nnamespace config { inline constexpr int hidden_size = ${facts.hiddenSize}; }\n`,
    },
  );
}

const right = 'for (unsigned i = 0; i < x.size(); ++i) out[i] = x[i] * config::hidden_size;';

test('a right realization passes at its own constants and at every small model', async () => {
  const outcome = await runUnitGate(contextWith('right', right));
  expect(outcome.findings).toEqual([]);
  expect(outcome.measurements).toEqual({ contracts: 1, binaries: 3, cases: 3 });
});

test.each([
  [
    'wrong-factor',
    'for (unsigned i = 0; i < x.size(); ++i) out[i] = x[i] * 6;',
    /small.*: out: expected .* got .* at \[\d, \d+\]; NMSE/,
  ],
  [
    'forgotten',
    'for (unsigned i = 1; i < x.size(); ++i) out[i] = x[i] * config::hidden_size;',
    /got NaN at \[0, 0\]/,
  ],
  [
    'row-dependent',
    'for (unsigned i = 0; i < x.size(); ++i) out[i] = x[i] * config::hidden_size * (x.size() > 20 ? 1.0000001f : 1.0f);',
    /row 0 is .* alone and .* among 5 rows/,
  ],
  [
    'crash',
    'for (unsigned i = 0; i < x.size(); ++i) out[i] = x[i] * config::hidden_size;\n  if (x.size() > 20) __builtin_trap();',
    /the process ended/,
  ],
  [
    'throws',
    'if (x.size() > 20) throw 1;\n  for (unsigned i = 0; i < x.size(); ++i) out[i] = x[i] * config::hidden_size;',
    /the process ended/,
  ],
])('a realization with fault %s turns the gate red', async (name, body, message) => {
  const { findings } = await runUnitGate({
    ...contextWith(name, body),
    effort: { oracleTokens: 1, processes: 1, variants: /small/.test(message.source), sanitize: false },
  });
  expect(findings.some((finding) => message.test(finding.message))).toBe(true);
  expect(findings.every((finding) => finding.contract === 'scale.rows')).toBe(true);
});

test('the build gate names contract, file and line of an error', async () => {
  const outcome = await runBuildGate(contextWith('broken', '\n  undeclared = 1; (void)out; (void)x;'));
  expect(outcome.findings.map(({ contract, file, line }) => [contract, file, line])).toContainEqual([
    'scale.rows',
    'scale_rows.cpp',
    5,
  ]);
});

test('dimensions are products and sums of constants', () => {
  const constants = new Map([
    ['a', 6],
    ['b', 20],
  ]);
  expect(['2*a', 'a*b-1', 'a+b', '7', 'b/a'].map((text) => evaluateDimension(text, constants))).toEqual([
    12, 119, 26, 7, 3,
  ]);
  expect(() => evaluateDimension('a*unknown', constants)).toThrow(/no whole number/);
});

test('a small model takes features from the engine and numbers from the gate', () => {
  const { facts } = smallModel(fakeEngine, { head_dim: 36, layer_windows: '5,0,33' });
  expect([facts.headDim, facts.hiddenSize, facts.tiedHead, facts.layerWindows]).toEqual([
    36,
    48,
    true,
    [5, 0, 33],
  ]);
  expect(() => smallModel(fakeEngine, { no_such_constant: 1 })).toThrow(/no constant/);
});
