import { describe, expect, it } from 'vitest';
import { scanSource } from '../../src/model/code-rules.ts';

function messagesOf(text: string, contract = 'norm.rms', language: 'c++' | 'cuda' = 'c++'): string[] {
  return scanSource(text, { headers: new Set(), contract, language }).map(({ message }) => message);
}

describe('arrays', () => {
  it.each([
    'static float all[1 << 30];',
    "char all[2'000'000];",
    'char all[0x7fffffffu] = {};',
    'float all[1024][1024][2];',
    'char all[size_t{1} << 33];',
    'char all[static_cast<size_t>(1) << 33];',
    'constexpr int64_t side = 1 << 11, area = side * side; float all[area];',
    'const int rows = 4096; float all[rows][rows];',
    'std::array<float, 1 << 30> all;',
    'std::array<std::pair<int, int>, (1 << 20) + 1> all;',
  ])('larger than 2^20 are refused: %s', (text) => {
    expect(messagesOf(text)).toEqual([expect.stringMatching(/^an array of \d+ elements is not allowed/)]);
  });

  it.each([
    'float all[1 << 20];',
    'float all[config::vocab_size];',
    'std::array<std::array<float, 4>, 8> all; std::vector<char> heap(1 << 30);',
    'float x = values[row * 4096 + 7]; auto f = [] { return 1 << 30; };',
    'constexpr int bad = 1 / 0; float all[4 % 0];',
  ])('that are smaller, or of another size, are not: %s', (text) => {
    expect(messagesOf(text)).toEqual([]);
  });
});

describe('loops', () => {
  it('are unrolled up to 64 times', () => {
    expect(messagesOf('#pragma GCC unroll 64')).toEqual([]);
    expect(messagesOf('#pragma unroll 64  // rows', 'norm.rms', 'cuda')).toEqual([]);
    expect(messagesOf('#pragma GCC unroll 65')).toEqual([expect.stringMatching(/unrolled 65 times/)]);
    expect(messagesOf('#pragma unroll 1000000', 'norm.rms', 'cuda')).toEqual([
      expect.stringMatching(/unrolled 1000000 times/),
    ]);
  });
});

describe('a catch', () => {
  const inCuda: readonly string[] = [
    'try { f(); } catch (...) {}',
    'try { f(); } catch (...) { ; }',
    'try { f(); } catch (...) { failed = true; }',
    'try { f(); } catch (const EngineError&) { failed = true; }',
    'try { f(); } catch (...) { if (false) throw; }',
    'try { f(); } catch (...) { if (false) { throw; } }',
    'try { f(); } catch (...) { return; throw; }',
    'try { f(); } catch (...) { if (x) return; throw; }',
    'try { f(); } catch (...) { auto again = [] { throw; }; }',
  ];

  it.each(inCuda)('that loses what was thrown is refused in CUDA C++: %s', (text) => {
    expect(messagesOf(text, 'norm.rms', 'cuda')).toEqual([expect.stringMatching(/catch/)]);
  });

  it.each([
    'try { f(); } catch (...) {}',
    'try { f(); } catch (...) { failed = true; }',
    'try { f(); } catch (const std::exception&) {}',
    'try { f(); } catch (const std::exception&) { ; }',
  ])('that loses everything is refused in C++: %s', (text) => {
    expect(messagesOf(text)).toEqual([expect.stringMatching(/catch/)]);
  });

  it.each([
    'try { f(); } catch (...) { undo(); throw; }',
    'try { f(); } catch (const EngineError& error) { throw EngineError(path + error.what()); }',
    'try { f(); } catch (const std::exception&) { return fallback; }',
    'try { f(); } catch (...) { error_ = std::current_exception(); }',
  ])('that does something about it is not: %s', (text) => {
    expect(messagesOf(text)).toEqual([]);
  });
});

describe('clocks, waiting, chance and the console', () => {
  const names =
    'clock clock64 clock_gettime gettimeofday timespec_get time chrono sleep usleep nanosleep sleep_for sleep_until this_thread ' +
    'globaltimer poll select pause getentropy getrandom arc4random sync fsync printf dprintf fprintf puts fputs fwrite ' +
    'putchar perror cout cerr clog stdout stderr stdin cin getchar scanf';
  it.each(names.split(' '))('%s is refused', (name) => {
    expect(messagesOf(`auto p = &::${name};`)).toEqual([`${name} is not allowed`]);
    expect(messagesOf(`auto p = ::${name};`, 'norm.rms', 'cuda')).toContain(`${name} is not allowed`);
  });

  it.each(['__builtin_ia32_rdtsc();', '__builtin_ia32_rdrand64_step(&x);', '__rdtsc();', '_rdtsc();'])(
    '%s is refused',
    (text) => {
      expect(messagesOf(text)).toEqual([expect.stringMatching(/implementation's/)]);
    },
  );

  it.each([
    ['interface.cli', 'std::cout << text << std::flush; std::cerr << usage;'],
    ['harness.protocol', 'std::fwrite(data, 1, bytes, out);'],
    ['runtime.threading', 'std::this_thread::yield(); __builtin_ia32_pause();'],
  ])('%s may: %s', (contract, text) => {
    expect(messagesOf(text, contract)).toEqual([]);
    expect(messagesOf(text)).not.toEqual([]);
  });

  it('runtime.threading waits in no other way', () => {
    expect(messagesOf('std::this_thread::sleep_for(x);', 'runtime.threading')).toHaveLength(2);
    expect(messagesOf('namespace t = std::this_thread;', 'runtime.threading')).toHaveLength(1);
  });
});
