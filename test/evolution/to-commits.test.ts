import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { clarifyContract } from '../../src/evolution/clarify-contract.ts';
import { toCommits, withLessons } from '../../src/evolution/to-commits.ts';
import { addToList, addToMap, dropFromList } from '../../src/evolution/yaml-list.ts';
import type { Evidence } from '../../src/model/contract.ts';
import type { KnowledgeEdit, Lesson } from '../../src/model/lesson.ts';

const lessonOf = (...edits: KnowledgeEdit[]): Lesson => ({
  ...{ kind: 'more-evidence', contract: 'norm.rms', key: 'k', title: 'a title', says: 'says' },
  ...{ commit: 'knowledge(x): change', run: 'run-1', edits },
});
const entry = (realization: string, letter: string): Evidence => ({
  ...{
    realization,
    report: letter.repeat(64),
    repeat: 'npx metainfer verify engines/x --seed 1',
    applies: {},
  },
  ...{ device: { cpu: 'c', threads: 1 }, toolchain: 'g++', figures: {}, date: '2026-11-30' },
  hashes: { contract: letter.repeat(64), realization: letter.repeat(64), gate: letter.repeat(64) },
});
const evidence = 'contracts/norm-rms/evidence.yaml';

describe('a list of a YAML text', () => {
  const text =
    '# a comment\nfirst:\n  - { id: one } # of one\n  - id: two\n    text: |\n      lines\n\n# another\nlast: { a: [1, 2] }\n';

  it('grows by an item, and every other byte stays', () => {
    const grown = addToList(text, 'first', [{ id: 'three', words: ['a: b', '- c'] }]);
    expect(parse(grown)).toMatchObject({
      first: [{ id: 'one' }, { id: 'two' }, { id: 'three', words: ['a: b', '- c'] }],
    });
    const at = grown.indexOf('  - id: three');
    const end = grown.indexOf('\n# another');
    expect(grown.slice(0, at) + grown.slice(end)).toBe(text);
  });

  it('may be written in one line', () => {
    expect(addToList('gates: [a, "b"]\nx: 1\n', 'gates', ['c'])).toBe('gates: [a, "b", "c"]\nx: 1\n');
    expect(addToList('gates: []\n', 'gates', ['c'])).toBe('gates: ["c"]\n');
  });

  it('may be absent, or the whole text, or end without a line end', () => {
    expect(addToList('a: 1', 'list', ['x'])).toBe('a: 1\nlist:\n  - x\n');
    expect(addToList('- a: 1', undefined, [{ a: 2 }])).toBe('- a: 1\n- a: 2\n');
    expect(addToList('', undefined, [{ a: 2 }])).toBe('- a: 2\n');
  });

  it('loses the items that are named, and no other', () => {
    const left = dropFromList(text, 'first', (item) => (item as { id: string }).id === 'one');
    expect(left).toBe(text.replace('  - { id: one } # of one\n', ''));
    expect(dropFromList('- a: 1\n', undefined, () => true)).toBe('[]\n');
  });

  it('has a sister: a map that gets a key', () => {
    const grown = addToMap('all:\n  a:\n    x: 1\n\nb: 2\n', 'all', 'c', { y: [1] });
    expect(grown).toBe('all:\n  a:\n    x: 1\n  c:\n    y:\n      - 1\n\nb: 2\n');
  });
});

describe('commits of lessons', () => {
  it('build on each other where they change one file', () => {
    const commits = toCommits(
      [
        lessonOf({ kind: 'add-evidence', path: evidence, entry: entry('a.cpp', 'a') }),
        lessonOf({ kind: 'add-evidence', path: evidence, entry: entry('b.cpp', 'b') }),
      ],
      new Map(),
    );
    const texts = commits.map(({ writes }) => writes[0]!.text!);
    expect(texts[1]!.startsWith(texts[0]!)).toBe(true);
    expect(parse(texts[1]!)).toEqual([entry('a.cpp', 'a'), entry('b.cpp', 'b')]);
  });

  it('are none for what knowledge holds: a run counts once', () => {
    const lesson = lessonOf({ kind: 'add-evidence', path: evidence, entry: entry('a.cpp', 'a') });
    const after = withLessons([lesson], new Map());
    expect([toCommits([lesson, lesson], new Map()).length, toCommits([lesson], after)]).toEqual([1, []]);
  });

  it('delete a file with its evidence', () => {
    const path = 'contracts/norm-rms/realizations/a.cpp';
    const before = withLessons(
      [
        lessonOf({ kind: 'add-evidence', path: evidence, entry: entry('a.cpp', 'a') }),
        lessonOf({ kind: 'add-evidence', path: evidence, entry: entry('b.cpp', 'b') }),
      ],
      new Map([[path, 'int x;\n']]),
    );
    const [commit] = toCommits(
      [lessonOf({ kind: 'delete', path }, { kind: 'drop-evidence', path: evidence, realization: 'a.cpp' })],
      before,
    );
    expect(commit!.writes[0]).toEqual({ path, text: null });
    expect(parse(commit!.writes[1]!.text!)).toEqual([entry('b.cpp', 'b')]);
  });

  it('are refused where somebody else wrote the file, or took it away', () => {
    const path = 'failure-modes/fm-49-x.md';
    const create = lessonOf({ kind: 'create', path, text: 'mine\n' });
    expect(() => toCommits([create], new Map([[path, 'theirs\n']]))).toThrow('fm-49-x.md');
    const refer = lessonOf({ kind: 'add-reference', path, reference: 'run-1' });
    expect(() => toCommits([refer], new Map())).toThrow('knowledge learn');
  });

  it('put a reference into the front matter, whatever it holds', () => {
    const path = 'failure-modes/fm-22-x.md';
    const page = '---\nid: fm-22\nreferences:\n  - "one: two"\n---\ntext: [x]\n';
    const reference = 'run-1: "quoted" # and $& more';
    const after = withLessons(
      [lessonOf({ kind: 'add-reference', path, reference })],
      new Map([[path, page]]),
    );
    const [, front, body] = after.get(path)!.split('---\n');
    expect(parse(front!)).toEqual({ id: 'fm-22', references: ['one: two', reference] });
    expect(body).toBe('text: [x]\n');
  });
});

describe('a contract that is made clearer', () => {
  const page = (edges: string) =>
    `---\nid: norm.rms\nversion: 1.2.3 # of the text\n---\n## Meaning\nversion: 9.9.9\n\n## Edges\n${edges}\n\n## Cost\nNone.\n`;

  it('gets the next minor version and a statement at the end of its edges', () => {
    expect(clarifyContract(page('1 row · NaN'), 'said · now')).toBe(
      page('1 row · NaN · said, now').replace('1.2.3', '1.3.0'),
    );
    expect(clarifyContract(page('- 1 row\n- NaN'), 'said')).toContain('- NaN\n- said\n\n## Cost');
    expect(clarifyContract(page('Prose.'), 'said')).toContain('Prose.\n\nsaid\n\n## Cost');
  });

  it('may have no edges yet, or have them last', () => {
    expect(clarifyContract('version: 0.1.0\n## Meaning\nx\n', 'said')).toBe(
      'version: 0.2.0\n## Meaning\nx\n\n## Edges\nsaid\n',
    );
    expect(clarifyContract('version: 0.1.0\n## Edges\na · b\n', 'said')).toBe(
      'version: 0.2.0\n## Edges\na · b · said\n',
    );
  });

  it('says nothing twice', () => {
    const once = clarifyContract(page('1 row · NaN'), 'said');
    expect(clarifyContract(once, 'said')).toBe(once);
  });
});
