import { describe, expect, it } from 'vitest';
import { checkConstraintsAgainstFacts } from '../../src/constraints/facts-rules.ts';
import { read, validText, withLine } from './read-case.ts';

describe('parseConstraints', () => {
  it('reports faults of every kind in one go, in the order of the file', () => {
    const text = [
      'apiVersion: metainfer/v2',
      'name: Tiny',
      'model: Qwen/Qwen3-0.6B',
      'weights: {source: random}',
      'hardware: {platform: cpu-x86_64, arch: avx-512, threads: 0, ram: 8GiB}',
      'numerics: {weights: int8}',
      'parallelism: {tensor: 3}',
      'serving: {max_context: 64, block_size: 16}',
      'workload: {prompt_tokens: 60, output_tokens: 60, concurrency: 4}',
      'goals: {require: {p99_ttft_ms: "<= 3", tpot_ms_p50: 900}}',
      'extra: 1',
      '',
    ].join('\n');
    expect(read(text).errors).toEqual([
      'c.yaml:1:13 apiVersion: found "metainfer/v2"; expected metainfer/v1. Did you mean metainfer/v1?',
      expect.stringMatching(/^c\.yaml:2:7 name: found "Tiny"; expected a name/),
      'c.yaml:3:8 model: found "Qwen/Qwen3-0.6B"; expected a mapping with one of id, config, path. Write model: {id: Qwen/Qwen3-0.6B}.',
      'c.yaml:4:19 weights.source: found "random"; expected one of synthetic, checkpoint. Did you mean synthetic?',
      'c.yaml:5:40 hardware.arch: unknown instruction set "avx-512"; expected one of x86-64, avx2, avx512 on cpu-x86_64. Did you mean avx512?',
      'c.yaml:5:58 hardware.threads: found 0, which is out of range; expected a whole number from 1 to 1024.',
      'c.yaml:5:61 hardware.ram: unknown key "ram" under hardware. Did you mean memory?',
      'c.yaml:6:21 numerics.weights: found "int8"; expected one of f32, bf16, f16, q8_0, q4_0, fp8. Did you mean q8_0?',
      'c.yaml:8:40 serving.block_size: block_size belongs to kv: paged; expected no block_size with kv: contiguous. Remove it.',
      'c.yaml:9:27 workload.prompt_tokens: 60 prompt tokens + 60 output tokens = 120; expected at most serving.max_context, 64.',
      'c.yaml:9:63 workload.concurrency: 4 requests at the same time; expected at most serving.max_batch, 1.',
      'c.yaml:10:19 goals.require.p99_ttft_ms: unknown key "p99_ttft_ms" under goals.require. Did you mean ttft_ms_p99?',
      expect.stringMatching(/^c\.yaml:10:53 goals\.require\.tpot_ms_p50: found 900; expected "<= 900"/),
      expect.stringMatching(/^c\.yaml:11:1 extra: unknown key "extra" at the top level/),
    ]);
  });

  it('sends a key that stands in the wrong place home', () => {
    expect(read(`${validText}threads: 2\n`).errors).toEqual([
      'c.yaml:26:1 threads: unknown key "threads" at the top level. Did you mean hardware.threads?',
    ]);
  });

  it('tells a missing field at the mapping that lacks it', () => {
    expect(read(withLine('max_context:')).errors).toEqual([
      'c.yaml:15:1 serving.max_context: serving.max_context is missing; expected a whole number from 1 to 16777216.',
    ]);
  });

  it.each([
    [
      'id: Qwen/Qwen3-0.6',
      /model\.id: the model "Qwen\/Qwen3-0\.6" is not in knowledge\/models.*Did you mean Qwen\/Qwen3-0\.6B\?/,
    ],
    ['id: qwen3-0.6b', /Did you mean Qwen\/Qwen3-0\.6B\?/],
  ])('refuses the unknown model %s with a near one', (line, expected) => {
    expect(read(withLine('id:', `  ${line}`)).errors).toEqual([expect.stringMatching(expected)]);
  });

  it('takes a path on the command line and refuses it through GitHub', () => {
    const text = withLine('id:', '  path: ../models/x').replace(
      'source: synthetic\n  seed: 7',
      'source: checkpoint',
    );
    expect(read(text).constraints?.model).toEqual({ path: '../models/x' });
    expect(read(text, 'github').errors).toEqual([
      expect.stringMatching(/^c\.yaml:4:9 model\.path: .*cannot name a path/),
    ]);
  });

  it("checks a folder's facts in a second step, at the same places", () => {
    const { facts } = read(validText);
    const { constraints, locate } = read(withLine('max_context:', '  max_context: 50000'), 'command-line');
    expect(constraints).toBeUndefined();
    const path = withLine('id:', '  path: x')
      .replace('source: synthetic\n  seed: 7', 'source: checkpoint')
      .replace('max_context: 1024', 'max_context: 50000');
    const parsed = read(path);
    const problems = checkConstraintsAgainstFacts(parsed.constraints!, facts!, locate);
    expect(problems.map(({ code, line }) => `${line} ${code}`)).toEqual([
      '17 context-too-long',
      '11 memory-too-small',
    ]);
  });

  it('wants exactly one of id, config and path', () => {
    expect(read(withLine('id:', '  {}')).errors).toEqual([
      expect.stringMatching(/^c\.yaml:4:3 model: found none of them; expected exactly one/),
    ]);
    expect(read(withLine('id:', '  id: Qwen/Qwen3-0.6B', '  path: x')).errors[0]).toMatch(
      /model: found id and path/,
    );
  });

  it('tells a problem of an inline config.json at its line', () => {
    const text = withLine(
      'id:',
      '  config:',
      '    model_type: llama',
      '    hidden_act: gelu',
      '    mystery: 1',
    );
    const { errors } = read(text);
    expect(errors).toContainEqual(expect.stringMatching(/^c\.yaml:6:17 model\.config\.hidden_act: /));
    expect(errors).toContainEqual(expect.stringMatching(/^c\.yaml:7:14 model\.config\.mystery: /));
  });

  it.each([
    ['seed: 7', '  seed: 1.5', /found 1\.5/],
    ['seed: 7', '  seed: 1.00000000000000000001', /silently round/],
    ['seed: 7', '  seed: "7"', /Write it without quotes/],
    ['seed: 7', '  seed: .nan', /found \.nan/],
    ['seed: 7', '  seed:', /found nothing/],
    ['name:', 'name: true', /found true; expected a name.*quotes if it is meant as text: "true"/],
    [
      'memory:',
      '  memory: 8G',
      /hardware\.memory: found "8G"; the unit "G" is not known; write GiB .* or GB/,
    ],
    ['memory:', '  memory: 0.3 B', /no whole number of bytes/],
    ['ttft_ms_p50:', '    ttft_ms_p50: 2 s', /ttft_ms_p50: found "2 s"; a comparison is missing/],
    ['ttft_ms_p50:', '    ttft_ms_p50: <= 2 s', /the unit "s" is not that of ttft_ms_p50, which is in ms/],
    ['ttft_ms_p50:', '    ttft_ms_p50: ">= 2"', /better when lower/],
    ['ttft_ms_p50:', '    ttft_ms_p50: “<= 2”', /curly quotes/],
    ['ttft_ms_p50:', '    peak_memory: "<= 2"', /a unit is missing/],
    ['ttft_ms_p50:', '    decode_tokens_per_second: ">= 1x vllm"', /the baseline "vllm" is not known/],
    [
      'ttft_ms_p50:',
      '    decode_tokens_per_second: >= 1x llama.cpp',
      /A value that begins with > needs quotes/,
    ],
    ['optimize:', '  <<: {}', /Merge keys are not supported/],
    ['optimize:', '  optimize: !!str latency', /found a tag, !!str/],
  ])('refuses in place of "%s": %s', (beginning, line, expected) => {
    const { errors, constraints } = read(withLine(beginning, line));
    expect(constraints).toBeUndefined();
    expect(errors).toEqual([expect.stringMatching(expected)]);
  });

  it.each([
    ['1.5GiB', 1.5 * 2 ** 30],
    ['2000 MB', 2e9],
    ['2gib', 2 ** 31],
    ['0.001 TB', 1e9],
  ])('reads a size of %s as %i bytes', (written, bytes) => {
    const goal = read(withLine('ttft_ms_p50:', `    peak_memory: "< ${written}"`)).constraints?.goals
      .require[0];
    expect(goal).toMatchObject({ comparison: '<', value: bytes, unit: 'bytes' });
  });

  it.each([
    ['ttft_ms_p50', '≤ 900ms', { comparison: '<=', value: 900, unit: 'ms' }],
    ['tpot_ms_p99', '<1e2 ms', { comparison: '<', value: 100, unit: 'ms' }],
    ['ttft_ms_p50', '<= 1.5 x Llama.cpp', { comparison: '<=', value: 1.5, unit: 'x', baseline: 'llama.cpp' }],
    ['output_throughput', '>20.5tok/s', { comparison: '>', value: 20.5, unit: 'tokens/s' }],
  ])('reads the goal %s: %s', (metric, written, expected) => {
    const { constraints } = read(withLine('ttft_ms_p50:', `    ${metric}: "${written}"`));
    expect(constraints?.goals.require).toEqual([{ metric, written, ...expected }]);
  });

  it('fills in fidelity by number format and lets the file override half of it', () => {
    expect(read(validText).constraints?.goals.fidelity).toEqual({ mean_kld: 1e-6, top1_agreement: 0.99 });
    const { constraints } = read(withLine('optimize:', '  fidelity: {mean_kld: 2e-4}'));
    expect(constraints?.goals.fidelity).toEqual({ mean_kld: 2e-4, top1_agreement: 0.99 });
  });

  it('lists every reserved value and still accepts the file', () => {
    const text = withLine('kv_cache:', '  kv_cache: q8_0', '  activations: bf16').replace(
      'interface: cli',
      'interface: openai\n  kv: paged\n  block_size: 16',
    );
    const { constraints, notCovered } = read(
      `${text}parallelism: {tensor: 2}\ngeneration: {mode: zero-reference}\n`,
    );
    expect(constraints).toBeDefined();
    expect(notCovered.map(({ path }) => path)).toEqual([
      'numerics.kv_cache',
      'numerics.activations',
      'parallelism.tensor',
      'serving.interface',
      'serving.kv',
    ]);
  });

  it('answers a megabyte and deep nesting at once', () => {
    const start = process.cpuUsage();
    expect(read('a: 1\n'.repeat(200_000)).errors).toEqual([expect.stringMatching(/at most 65536/)]);
    expect(read(`a: ${'['.repeat(60_000)}`).errors).toEqual([expect.stringMatching(/more than 16 levels/)]);
    expect(read('- '.repeat(30_000)).errors).toEqual([expect.stringMatching(/more than 16 levels/)]);
    expect(
      read(Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')).errors[0],
    ).toMatch(/more than 16 levels/);
    expect(process.cpuUsage(start).user).toBeLessThan(2e6);
  });

  it('prints no invisible or control character of the file', () => {
    for (const problem of read('"a\\u202e\\u0007b\\e[31m": 1\nname: "\\x1b[2J"\n').errors) {
      expect(problem).not.toMatch(/[\u0000-\u001f\u202e\u007f-\u009f]/);
    }
  });
});

describe('the constraint hash', () => {
  it('ignores order, comments, written defaults and the spelling of a goal', () => {
    const shuffled = withLine('ttft_ms_p50:', '    ttft_ms_p50: <=2000 ms # two seconds')
      .replace('max_context: 1024\n  max_batch: 1', 'kv: contiguous\n  max_batch: 1\n  max_context: 1024')
      .replace('memory: 8GiB', 'memory: 8192 MiB\n  arch: avx2');
    expect(read(shuffled).sha256).toBe(read(validText).sha256);
  });

  it('changes with every meaning', () => {
    const hashes = [
      validText,
      withLine('seed:', '  seed: 8'),
      withLine('ttft_ms_p50:', '    ttft_ms_p50: "< 2000"'),
      withLine('memory:', '  memory: 8GB'),
    ].map((text) => read(text).sha256);
    expect(new Set(hashes).size).toBe(4);
    expect(hashes).not.toContain(undefined);
  });
});
