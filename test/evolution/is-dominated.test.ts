import { describe, expect, it } from 'vitest';
import { isDominated } from '../../src/evolution/is-dominated.ts';
import type { Evidence } from '../../src/model/contract.ts';

const hash = (letter: string) => letter.repeat(64);
const realization = (file: string, letter: string) => ({
  ...{ file, sha256: hash(letter), replaces: [], fuses: [] },
  applies: { 'hardware.platform': 'cpu-x86_64' } as const,
});
const older = realization('old.cpp', 'a');
const newer = realization('new.cpp', 'b');

function run(of: typeof older, decode: number, prefill: number, more: Partial<Evidence> = {}): Evidence {
  return {
    ...{ realization: of.file, report: hash('c'), repeat: 'npx metainfer verify engines/tiny --seed 1' },
    applies: { 'hardware.platform': 'cpu-x86_64' },
    ...{ device: { cpu: 'AMD EPYC', threads: 2 }, toolchain: 'g++', date: '2026-11-30' },
    hashes: { contract: hash('d'), realization: of.sha256, gate: hash('e') },
    figures: { decode_tokens_per_second: decode, prefill_tokens_per_second: prefill },
    ...more,
  };
}

const judge = (evidence: readonly Evidence[], change: Partial<Parameters<typeof isDominated>[1]> = {}) =>
  isDominated(older, { ...newer, ...change }, { evidence, appliesWhen: {} });

describe('an older realization', () => {
  it('is dominated where the new one is slower in nothing and faster in something, on every device', () => {
    const elsewhere = { device: { cpu: 'Xeon', threads: 8 } };
    const evidence = [
      ...[run(older, 100, 500), run(newer, 110, 500)],
      ...[run(older, 300, 900, elsewhere), run(newer, 300, 950, elsewhere)],
    ];
    expect(judge(evidence)).toEqual({ isDominated: true, reason: expect.stringContaining('every device') });
  });

  it.each([
    [
      'a device on which the new one was never measured',
      [
        run(older, 100, 500),
        run(newer, 110, 510),
        run(older, 90, 90, { device: { cpu: 'Xeon', threads: 8 } }),
      ],
      'Xeon',
    ],
    ['a prefill that got slower', [run(older, 100, 500), run(newer, 110, 490)], 'not shown to be faster'],
    ['the same figures', [run(older, 100, 500), run(newer, 100, 500)], 'not shown to be faster'],
    [
      'figures of another engine',
      [run(older, 100, 500), run(newer, 900, 900, { repeat: 'npx metainfer verify engines/other --seed 1' })],
      'not shown',
    ],
    [
      'figures of an earlier text of the new one',
      [
        run(older, 100, 500),
        run(newer, 900, 900, { hashes: { contract: hash('d'), realization: hash('f'), gate: hash('e') } }),
      ],
      'not shown',
    ],
    ['no figures at all', [], 'never measured'],
    [
      'figures without a speed',
      [run(older, 1, 1, { figures: { cases: 3 } }), run(newer, 1, 1, { figures: { cases: 3 } })],
      'not shown',
    ],
  ])('stays for %s', (_, evidence, reason) => {
    expect(judge(evidence)).toEqual({ isDominated: false, reason: expect.stringContaining(reason) });
  });

  it('stays where it applies to more', () => {
    const evidence = [run(older, 100, 500), run(newer, 110, 510)];
    const narrow = { 'hardware.platform': 'cpu-x86_64', 'numerics.weights': 'bf16' } as const;
    expect(judge(evidence, { applies: narrow }).isDominated).toBe(false);
    // What the contract itself demands is no loss.
    const bounded = { evidence, appliesWhen: { 'numerics.weights': 'bf16' } as const };
    expect(isDominated(older, { ...newer, applies: narrow }, bounded).isDominated).toBe(true);
  });

  it('stays where it fills another contract too', () => {
    const fused = { ...older, replaces: ['mlp.gated'] };
    const evidence = [run(fused as never, 100, 500), run(newer, 110, 510)];
    expect(isDominated(fused, newer, { evidence, appliesWhen: {} }).reason).toContain('mlp.gated');
  });

  it('is beaten by a measurement side by side only where it stood beside it', () => {
    const gain = { figures: { decode_tokens_per_second: 90, optimizer_ratio: 1.1, optimizer_spread: 0.02 } };
    const evidence = [run(older, 100, 500), run(newer, 0, 0, gain)];
    const beside = (measuredBeside: string) =>
      isDominated(older, newer, { evidence, appliesWhen: {}, measuredBeside }).isDominated;
    expect([beside('old.cpp'), beside('third.cpp')]).toEqual([true, false]);
    const noise = {
      figures: { decode_tokens_per_second: 90, optimizer_ratio: 1.01, optimizer_spread: 0.02 },
    };
    expect(
      isDominated(older, newer, {
        evidence: [run(older, 100, 500), run(newer, 0, 0, noise)],
        ...{ appliesWhen: {}, measuredBeside: 'old.cpp' },
      }).isDominated,
    ).toBe(false);
  });
});
