import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readCase } from './read-case.ts';

const valid = readCase('00-valid.yaml');

describe('constraint files that people get wrong', () => {
  it('00-valid.yaml: accepted', () => {
    expect(valid.problems).toEqual([]);
    expect(valid.constraints).toMatchObject({
      name: 'tiny-cpu',
      hardware: { arch: 'avx2', threads: 2, devices: 1, memory: 8 * 2 ** 30 },
      goals: { require: [{ metric: 'ttft_ms_p50', comparison: '<=', value: 2000, unit: 'ms' }] },
    });
  });

  it.each(['01-crlf.yaml', '02-bom-start.yaml'])('%s: accepted without a word; same hash as 00', (file) => {
    const { sha256, problems } = readCase(file);
    expect(problems).toEqual([]);
    expect(sha256).toBe(valid.sha256);
  });

  it('03-bom-middle.yaml: accepted after removing it, with a warning; same hash', () => {
    const { sha256, warnings } = readCase('03-bom-middle.yaml');
    expect(warnings).toEqual([expect.stringMatching(/^c\.yaml:8:1: warning: found a byte order mark/)]);
    expect(sha256).toBe(valid.sha256);
  });

  it('04-nbsp-after-colon.yaml: accepted with a warning naming line and column', () => {
    const { sha256, warnings } = readCase('04-nbsp-after-colon.yaml');
    expect(warnings).toEqual([expect.stringMatching(/^c\.yaml:10:11: warning: found a non-breaking space/)]);
    expect(sha256).toBe(valid.sha256);
  });

  it('05-nbsp-indent.yaml: repaired with a warning; never wrong nesting', () => {
    const { sha256, warnings } = readCase('05-nbsp-indent.yaml');
    expect(warnings).toEqual([expect.stringMatching(/^c\.yaml:10:1: warning: found a non-breaking space/)]);
    expect(sha256).toBe(valid.sha256);
  });

  it('06-tab-indent.yaml: error: tab, with line and column', () => {
    expect(readCase('06-tab-indent.yaml').errors).toEqual([
      expect.stringMatching(/^c\.yaml:10:1: found a tab/),
    ]);
  });

  it('07-duplicate-key.yaml: error: duplicate key, both lines named', () => {
    expect(readCase('07-duplicate-key.yaml').errors).toEqual([
      expect.stringMatching(/^c\.yaml:26:1 name: duplicate key "name": first on line 2, again on line 26/),
    ]);
  });

  it('08-two-documents.yaml: error: one document expected', () => {
    expect(readCase('08-two-documents.yaml').errors).toEqual([
      expect.stringMatching(/:26:1: found a second document/),
    ]);
  });

  it('09-alias-bomb.yaml: error within 1 s and 100 MB', () => {
    const [start, heap] = [process.cpuUsage(), process.memoryUsage().heapUsed];
    expect(readCase('09-alias-bomb.yaml').errors[0]).toMatch(/^c\.yaml:1:4: found an anchor/);
    // CPU time: wall time on a busy runner says nothing about the parser.
    expect(process.cpuUsage(start).user).toBeLessThan(1e6);
    expect(process.memoryUsage().heapUsed - heap).toBeLessThan(100e6);
  });

  it('10-unknown-keys.yaml: two errors at once, each with "did you mean"', () => {
    expect(readCase('10-unknown-keys.yaml').errors).toEqual([
      'c.yaml:10:3 hardware.thread: unknown key "thread" under hardware. Did you mean threads?',
      'c.yaml:14:3 numerics.kv-cache: unknown key "kv-cache" under numerics. Did you mean kv_cache?',
    ]);
  });

  it('11-wrong-types.yaml: three errors at once, each saying what was expected, memory asking for a unit', () => {
    expect(readCase('11-wrong-types.yaml').errors).toEqual([
      'c.yaml:10:12 hardware.threads: found "two"; expected a whole number from 1 to 1024.',
      expect.stringMatching(
        /^c\.yaml:11:11 hardware\.memory: found 8; expected a size with its unit.*Which unit is meant\? Write 8GiB or 8GB\.$/,
      ),
      'c.yaml:17:16 serving.max_context: found "lots"; expected a whole number from 1 to 16777216.',
    ]);
  });

  it('12-path-in-name.yaml: error on name', () => {
    expect(readCase('12-path-in-name.yaml').errors).toEqual([
      expect.stringMatching(/^c\.yaml:2:7 name: found "\.\.\/\.\.\/etc\/passwd"/),
    ]);
  });

  it('13-shell-in-name.yaml: error on name; nothing is executed anywhere', () => {
    expect(readCase('13-shell-in-name.yaml').errors).toEqual([
      expect.stringMatching(/^c\.yaml:2:7 name: found "x\$\(touch pwned\)/),
    ]);
    expect(existsSync('pwned')).toBe(false);
  });

  it('14-proto.yaml: error: unknown keys; no pollution', () => {
    const { errors } = readCase('14-proto.yaml');
    expect(errors).toHaveLength(2);
    expect(errors[0]).toMatch(/^c\.yaml:26:1 __proto__: unknown key "__proto__"/);
    expect(errors[1]).toMatch(/^c\.yaml:28:1 constructor: unknown key "constructor"/);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('15-needs-more-memory.yaml: error that shows the arithmetic: weights + KV against memory', () => {
    expect(readCase('15-needs-more-memory.yaml').errors).toEqual([
      expect.stringMatching(
        /^c\.yaml:11:11 hardware\.memory: 1\.34 GiB are needed and 512 MiB are given: weights 1\.11 GiB \(596049920 parameters in bf16\) \+ KV cache 224 MiB/,
      ),
    ]);
  });

  it('16-not-covered-yet.yaml: not an error of the file: "known, not covered", with what is missing', () => {
    const { constraints, problems, notCovered } = readCase('16-not-covered-yet.yaml');
    expect(problems).toEqual([]);
    expect(constraints?.hardware.platform).toBe('hip');
    expect(notCovered).toEqual([
      {
        path: 'hardware.platform',
        value: 'hip',
        message: expect.stringMatching(/hip is known, but not covered yet/),
      },
    ]);
  });

  it('17-unknown-platform.yaml: error with "did you mean cpu-x86_64"', () => {
    expect(readCase('17-unknown-platform.yaml').errors).toEqual([
      'c.yaml:9:13 hardware.platform: found "cpu-x86"; expected one of cpu-x86_64, cuda, cpu-aarch64, hip. Did you mean cpu-x86_64?',
    ]);
  });

  it('18-empty.yaml: error: empty file, with a pointer to an example', () => {
    const { errors } = readCase('18-empty.yaml');
    expect(errors).toEqual([
      expect.stringMatching(/the file is empty.*knowledge\/examples\/qwen3-0\.6b\.yaml/),
    ]);
    expect(existsSync('knowledge/examples/qwen3-0.6b.yaml')).toBe(true);
  });

  it('19-not-yaml.yaml: error with line and column', () => {
    expect(readCase('19-not-yaml.yaml').errors).toEqual([
      expect.stringMatching(/^c\.yaml:\d+:\d+: not valid YAML/),
    ]);
  });

  it('20-scalars.yaml: the name "no" stays a string and the seed 1e3 is 1000', () => {
    const { constraints, problems } = readCase('20-scalars.yaml');
    expect(problems).toEqual([]);
    expect(constraints).toMatchObject({ name: 'no', weights: { seed: 1000 } });
  });

  it('21-huge-integer.yaml: error: out of range, value shown as written', () => {
    expect(readCase('21-huge-integer.yaml').errors).toEqual([
      'c.yaml:7:9 weights.seed: found 123456789012345678901234567890, which is out of range; expected a whole number from 0 to 4294967295.',
    ]);
  });

  it('22-goal-units.yaml: accepted where the meaning is plain; GB and GiB told apart', () => {
    expect(readCase('22-goal-units.yaml').constraints?.goals.require).toEqual([
      { metric: 'ttft_ms_p50', comparison: '<=', value: 2000, unit: 'ms', written: '<=2000ms' },
      {
        metric: 'decode_tokens_per_second',
        comparison: '>=',
        value: 1,
        unit: 'x',
        baseline: 'llama.cpp',
        written: '>= 1.0x llama.cpp',
      },
      { metric: 'peak_memory', comparison: '<=', value: 2e9, unit: 'bytes', written: '<= 2 GB' },
    ]);
  });

  it('23-contradicting-goals.yaml: warning: a p99 bound below that of p50', () => {
    expect(readCase('23-contradicting-goals.yaml').warnings).toEqual([
      expect.stringMatching(
        /^c\.yaml:26:18 goals\.require\.ttft_ms_p99: warning: ttft_ms_p99 <= 100 already implies/,
      ),
    ]);
  });

  it('24-quant-row.yaml: error naming hidden_size and the numbers, beside "not covered" for q8_0', () => {
    const { errors, notCovered } = readCase('24-quant-row.yaml');
    expect(errors).toContainEqual(
      expect.stringMatching(
        /numerics\.weights: q8_0 .*hidden_size 100 = 3 × 32 \+ 4; intermediate_size 300 = 9 × 32 \+ 12/,
      ),
    );
    expect(notCovered.map(({ value }) => value)).toEqual(['q8_0']);
  });

  it('25-tp-heads.yaml: error: 16 heads and 8 KV heads are not divisible by 3', () => {
    expect(readCase('25-tp-heads.yaml').errors).toEqual([
      expect.stringMatching(
        /^c\.yaml:20:11 parallelism\.tensor: 16 attention heads and 8 KV heads are not divisible by 3/,
      ),
    ]);
  });
});
