import { describe, expect, it } from 'vitest';
import { joinParts } from '../../../src/adapters/llm/join-parts.ts';
import { parseFiles } from '../../../src/adapters/llm/parse-files.ts';
import { compileSchema, parseJson } from '../../../src/adapters/llm/parse-json.ts';
import { createAnswerReader } from '../../../src/adapters/llm/read-answer.ts';

const expects = { kind: 'files', paths: ['norm_rms.cpp'], maxBytes: 400 } as const;
const file = '// SPDX\nint main() { return 0; }\n';
const block = (info: string, text = file) => `\`\`\`${info}\n${text}\`\`\``;

describe('files in an answer', () => {
  it.each([
    ['as the prompt asks', block('cpp path=norm_rms.cpp')],
    ['with the path in quotes', block('cpp title="norm_rms.cpp"')],
    ['after a colon', block('cpp:norm_rms.cpp')],
    ['by the name alone', block('norm_rms.cpp')],
    ['with the name above', `**norm_rms.cpp**\n\n${block('cpp')}`],
    ['with the name in a heading', `### File: \`norm_rms.cpp\`\n${block('cpp')}`],
    ['with the name in the first line', block('cpp', `// norm_rms.cpp\n${file}`)],
    ['without any name', `Here you are:\n${block('cpp')}\nEnjoy!`],
    ['without a name, beside commands', `${block('cpp')}\nBuild it:\n${block('bash', 'g++ norm_rms.cpp\n')}`],
    ['with a dot before the path', block('cpp path=./norm_rms.cpp')],
    ['with Windows line ends', block('cpp path=norm_rms.cpp', file.replaceAll('\n', '\r\n'))],
    ['in tildes', `~~~cpp path=norm_rms.cpp\n${file}~~~`],
    ['in four backticks, with three inside', `\`\`\`\`cpp path=norm_rms.cpp\n${file}\`\`\`\``],
    ['without the end of the block', `\`\`\`cpp path=norm_rms.cpp\n${file}`],
    ['twice the same', `${block('cpp path=norm_rms.cpp')}\n${block('cpp path=norm_rms.cpp')}`],
    ['as JSON', JSON.stringify({ files: [{ path: 'norm_rms.cpp', text: file }] })],
    [
      'as JSON in a block',
      block('json', `${JSON.stringify({ files: [{ path: 'norm_rms.cpp', text: file }] }, null, 2)}\n`),
    ],
    ['as JSON among prose', `Sure: ${JSON.stringify([{ path: 'norm_rms.cpp', text: file }])} Done.`],
  ])('are read %s', (_, answer) => {
    const reading = parseFiles(answer, expects);
    expect(reading).toMatchObject({ isRead: true });
    expect(
      reading.isRead && reading.files.map(({ path, text }) => [path, text.replace('// norm_rms.cpp\n', '')]),
    ).toEqual([['norm_rms.cpp', file]]);
  });

  it.each([
    ['wrong-path', /"\.\.\/norm_rms\.cpp"; only norm_rms\.cpp/, block('cpp path=../norm_rms.cpp')],
    ['wrong-path', /"\/etc\/passwd"/, block('cpp path=/etc/passwd')],
    ['wrong-path', /"test\.cpp"/, `${block('cpp path=norm_rms.cpp')}\n${block('cpp path=test.cpp')}`],
    [
      'wrong-path',
      /"src\/norm_rms\.cpp"/,
      JSON.stringify({ files: [{ path: 'src/norm_rms.cpp', text: file }] }),
    ],
    [
      'contradictory',
      /several different versions of norm_rms\.cpp/,
      `${block('cpp path=norm_rms.cpp')}\nBetter:\n${block('cpp path=norm_rms.cpp', `${file}int x;\n`)}`,
    ],
    [
      'contradictory',
      /2 different blocks of code without names/,
      `${block('cpp')}\nor\n${block('cpp', 'int y;\n')}`,
    ],
    ['unreadable', /no file in the answer; expected norm_rms\.cpp/, 'One sums the squares first.'],
    ['empty', /norm_rms\.cpp is empty/, block('cpp path=norm_rms.cpp', '\n \n')],
    [
      'too-long',
      /has 800 bytes; at most 400 are allowed/,
      block('cpp path=norm_rms.cpp', `${'x'.repeat(799)}\n`),
    ],
    ['invalid-text', /no UTF-8 \(U\+FFFD\) on line 2/, block('cpp path=norm_rms.cpp', 'int a;\n// \ufffd\n')],
    [
      'invalid-text',
      /character U\+0000 on line 1/,
      JSON.stringify({ files: [{ path: 'norm_rms.cpp', text: 'a\u0000b' }] }),
    ],
    ['invalid-text', /U\+001B on line 2/, block('cpp path=norm_rms.cpp', 'int a;\n// \u001b[2J\n')],
    ['invalid-text', /U\+009B/, block('cpp path=norm_rms.cpp', '// \u009b2J\n')],
    ['invalid-text', /U\+202E/, block('cpp path=norm_rms.cpp', '// \u202e } return true;\n')],
    [
      'wrong-path',
      /"\[2J evil\.cpp"/,
      JSON.stringify({ files: [{ path: '\u001b[2J\nevil.cpp', text: 'a' }] }),
    ],
    ['invalid-text', /U\+D800/, '{"files": [{"path": "norm_rms.cpp", "text": "a\\ud800b"}]}'],
  ] as const)('are refused as %s: %s', (reason, message, answer) => {
    expect(parseFiles(answer, expects)).toMatchObject({
      isRead: false,
      reason,
      message: expect.stringMatching(message),
    });
  });

  it('are refused where one of several is missing', () => {
    const two = { ...expects, paths: ['norm_rms.cpp', 'linear.cpp'] };
    expect(parseFiles(block('cpp path=norm_rms.cpp'), two)).toMatchObject({
      reason: 'unreadable',
      message: expect.stringContaining('linear.cpp is missing'),
    });
    expect(
      parseFiles(`${block('cpp path=linear.cpp')}\n\n${block('cpp path=norm_rms.cpp')}`, two),
    ).toMatchObject({ isRead: true });
  });

  it('are code, not a model that says no in prose', () => {
    const reader = createAnswerReader(expects);
    expect(reader.read("I'm sorry, but I can't help with that.", 'stop')).toMatchObject({
      reason: 'declined',
      message: expect.stringContaining("can't help"),
    });
    expect(reader.read(`Sorry for the delay.\n${block('cpp')}`, 'stop')).toMatchObject({ kind: 'files' });
    expect(reader.read('', 'stop')).toMatchObject({ reason: 'empty' });
    expect(reader.read(block('cpp'), 'content_filter')).toMatchObject({ reason: 'declined' });
  });
});

describe('JSON in an answer', () => {
  const check = compileSchema({
    type: 'object',
    properties: { a: { type: 'integer' } },
    required: ['a'],
    additionalProperties: false,
  });

  it.each([
    '{"a": 1}',
    '```json\n{"a": 1}\n```',
    'The verdict is {"a": 1}, as asked.',
    'First {"b": 2}:\n```\n{"a": 1}\n```',
  ])('is found in %j', (text) => {
    expect(parseJson(text, check)).toEqual({ isRead: true, value: { a: 1 } });
  });

  it.each([
    ['met, all of it', /no JSON value/],
    ['{"a": "one"}', /a: Invalid input: expected .*number|a: Invalid input: expected int/],
    ['{"a": 1, "b": 2}', /Unrecognized key: "b"/],
    ['{"a": 1', /no JSON value/],
  ])('is refused in %j', (text, message) => {
    expect(parseJson(text, check)).toMatchObject({ isRead: false, message: expect.stringMatching(message) });
  });

  it('is refused with what each kind of value would be', () => {
    const either = compileSchema({
      type: 'object',
      properties: { line: { type: ['integer', 'null'] } },
      required: ['line'],
    });
    expect([either({ line: null }), either({ line: 3 })]).toEqual([undefined, undefined]);
    expect(either({ line: 'three' })).toMatch(/^line: .*expected (?:int|number).* or .*expected null/);
  });
});

describe('an answer in parts', () => {
  const text = Array.from({ length: 30 }, (_, line) => `  values[${line}] = ${line} * scale;`).join('\n');

  it.each([0, 20, 200])('is joined without what was said twice (%i characters)', (overlap) => {
    const cut = 333;
    expect(joinParts(text.slice(0, cut), text.slice(cut - overlap))).toBe(text);
  });

  it('keeps a table of zeros whole: that it goes on with zeros is no overlap', () => {
    const zeros = '0.0f, '.repeat(20);
    expect(joinParts(`a = {${zeros}`, `${zeros}};`)).toBe(`a = {${zeros}${zeros}};`);
  });

  it('is joined without the block opened again, and without words about it', () => {
    const open = '```cpp path=a.cpp\nint x;\n';
    expect(joinParts(open, 'Continuing:\n\n```cpp\nint y;\n```')).toBe(`${open}int y;\n\`\`\``);
    expect(joinParts(`${open}\`\`\`\n`, '```cpp\nint y;\n```')).toBe(
      `${open}\`\`\`\n\`\`\`cpp\nint y;\n\`\`\``,
    );
  });

  it('is joined where the blank at the cut is left out', () => {
    const before = 'int first_value = 1;\n    int second_value = 2;\n';
    expect(joinParts(before, '\n\nint second_value = 2;\n    int third = 3;')).toBe(
      `${before}    int third = 3;`,
    );
  });
});
