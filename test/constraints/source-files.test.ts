import { describe, expect, it } from 'vitest';
import { read, validText } from './read-case.ts';

const withGeneration = (lines: string) => `${validText}generation:\n${lines}`;
const listed = withGeneration('  mode: source-reference\n  source_files: [ref/one.cpp, /abs/two.c]\n');

describe('source files of a constraint file', () => {
  it('are kept with mode source-reference, and change the meaning of the file', () => {
    const { constraints, problems, notCovered, sha256 } = read(listed);
    expect([problems, notCovered]).toEqual([[], []]);
    expect(constraints?.generation).toEqual({
      mode: 'source-reference',
      budget: {},
      source_files: ['ref/one.cpp', '/abs/two.c'],
    });
    expect(sha256).not.toBe(read(listed.replace('one.cpp', 'other.cpp')).sha256);
  });

  it('leave no trace in a file without them', () => {
    const { constraints, sha256 } = read(validText);
    expect(constraints?.generation).toEqual({ mode: 'knowledge-first', budget: {} });
    expect(read(withGeneration('  mode: knowledge-first\n')).sha256).toBe(sha256);
  });

  it.each([
    [
      'are needed by mode source-reference',
      '  mode: source-reference\n',
      'c.yaml:26:1 generation.source_files: generation.source_files is missing; expected a list of paths of source files with mode: source-reference.',
    ],
    [
      'belong to no other mode',
      '  mode: zero-reference\n  source_files: [a.cpp]\n',
      'c.yaml:28:17 generation.source_files: source files belong to mode: source-reference; expected no source_files with mode: zero-reference. Remove them, or change the mode.',
    ],
    [
      'belong to no mode by default',
      '  source_files: [a.cpp]\n',
      'c.yaml:27:17 generation.source_files: source files belong to mode: source-reference; expected no source_files with mode: knowledge-first. Remove them, or change the mode.',
    ],
    [
      'are a list',
      '  mode: source-reference\n  source_files: a.cpp\n',
      'c.yaml:28:17 generation.source_files: found "a.cpp"; expected a list of 1 to 64 paths of source files.',
    ],
    [
      'are at least one',
      '  mode: source-reference\n  source_files: []\n',
      expect.stringMatching(/^c\.yaml:28:17 generation\.source_files: found .*out of range/),
    ],
    [
      'are paths, each of them',
      '  mode: source-reference\n  source_files: [a.cpp, 7]\n',
      expect.stringMatching(/^c\.yaml:28:25 generation\.source_files\.1: found 7; expected the path/),
    ],
  ])('%s', (_, lines, expected) => {
    expect(read(withGeneration(lines)).errors).toEqual([expected]);
  });

  it('cannot come through GitHub, nor can the mode that needs them', () => {
    const refused = expect.stringMatching(
      /^c\.yaml:27:9 generation\.mode: source-reference shows files of this machine .* expected knowledge-first or zero-reference\. Use `metainfer build`/,
    );
    expect(read(listed, 'github').errors).toEqual([refused]);
    expect(read(withGeneration('  mode: source-reference\n'), 'github').errors).toEqual([refused]);
    expect(read(withGeneration('  mode: zero-reference\n'), 'github').errors).toEqual([]);
  });
});
