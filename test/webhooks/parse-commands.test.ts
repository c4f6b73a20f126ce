import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capabilities, type ParsedCommand } from '../../src/model/github.ts';
import { commandTable } from '../../src/webhooks/command-table.ts';
import { parseCommands } from '../../src/webhooks/parse-commands.ts';
import { renderHelp } from '../../src/webhooks/render-help.ts';

const status: ParsedCommand = { kind: 'command', name: 'status', arguments: {} };

function messageOf(line: string): string {
  const [parsed] = parseCommands(line);
  return parsed?.kind === 'not-understood' ? parsed.message : `understood: ${JSON.stringify(parsed)}`;
}

describe('where a command counts', () => {
  it.each([
    ['alone', '/metainfer status'],
    ['after text, in the middle of a paragraph', 'Where are we?\n/metainfer status\nThanks'],
    ['in a body from the web editor, with CRLF', 'Hello\r\n\r\n/metainfer status\r\n'],
    ['in a body with lone carriage returns', 'Hello\r/metainfer status\r'],
    ['above the dashes of an e-mail signature', '/metainfer status\n--\nAda'],
    ['below a quotation', '> /metainfer generate\n\n/metainfer status'],
    ['below a code block', '```\n/metainfer generate\n```\n/metainfer status'],
    ['after up to three spaces', '   /metainfer status'],
    ['with a non-breaking space, as phones type it', '/metainfer\u00a0status'],
    ['behind a zero-width space', '\u200b/metainfer status'],
    ['after a byte order mark', '\ufeff/metainfer status'],
    ['with spaces at its end', '/metainfer status  \t'],
  ])('%s', (_, body) => {
    expect(parseCommands(body)).toEqual([status]);
  });

  it.each([
    ['in the middle of a line', 'please /metainfer generate'],
    ['in inline code', '`/metainfer generate`'],
    ['in inline code over several lines', 'type `x\n/metainfer generate\n` please'],
    ['in a fence', '```\n/metainfer generate\n```'],
    ['in a fence of tildes that is never closed', '~~~\n/metainfer generate'],
    ['in an indented block', 'text\n\n    /metainfer generate'],
    ['in a quotation', '> /metainfer generate'],
    ['in a quotation in a list', '- > /metainfer generate'],
    ['on a line that GitHub shows as part of a quotation', '> hello\n/metainfer generate'],
    ['in an HTML comment', '<!--\n/metainfer generate\n\n/metainfer generate\n-->'],
    ['in an HTML comment within a paragraph', 'text <!--\n/metainfer generate\n--> text'],
    ['in an HTML block', '<details>\n/metainfer generate\n</details>'],
    ['in an attribute over several lines', 'see <a title="\n/metainfer generate\n">x</a>'],
    ['in a list', '- /metainfer generate'],
    ['in a heading', '# /metainfer generate'],
    ['as the beginning of another word', '/metainferx generate'],
    ['as a path', '/metainfer/generate'],
  ])('not %s', (_, body) => {
    expect(parseCommands(body)).toEqual([]);
  });
});

describe('what a command may say', () => {
  it('understands every example of the table, and no two of them alike', () => {
    const parsed = commandTable.map(({ example }) => parseCommands(example));
    expect(parsed.map((commands) => commands.map((command) => command.kind))).toEqual(
      commandTable.map(() => ['command']),
    );
    expect(parsed.flat().map((command) => command.kind === 'command' && command.name)).toEqual(
      commandTable.map(({ name }) => name),
    );
  });

  it('reads several commands in their order', () => {
    expect(parseCommands('/metainfer cancel\ntext\n/metainfer generate')).toMatchObject([
      { name: 'cancel' },
      { name: 'generate' },
    ]);
  });

  it.each(['baseline=none', 'baseline="none"', "baseline='none'"])('reads the argument %s', (argument) => {
    expect(parseCommands(`/metainfer bench ${argument}`)).toEqual([
      { kind: 'command', name: 'bench', arguments: { baseline: 'none' } },
    ]);
  });

  it.each([
    [
      '/metainfer',
      'a command is missing; there are plan, generate, fix, bench, retry, cancel, status, help.',
    ],
    [
      '/metainfer genrate',
      '"genrate" is no command, did you mean generate?; there are plan, generate, fix, bench, retry, cancel, status, help.',
    ],
    [
      '/metainfer Status',
      '"Status" is no command, did you mean status?; there are plan, generate, fix, bench, retry, cancel, status, help.',
    ],
    [
      '/metainfer gen',
      '"gen" is no command; there are plan, generate, fix, bench, retry, cancel, status, help.',
    ],
    ['/MetaInfer status', 'write it in lower case: /metainfer.'],
    [
      '/metainfer retry please',
      '"please" after retry is not understood; the command stands alone on its line.',
    ],
    [
      '/metainfer bench llama.cpp',
      '"llama.cpp" after bench is not understood; did you mean baseline=llama.cpp?',
    ],
    [
      '/metainfer bench basline=none',
      'bench has no argument "basline", did you mean baseline?; it takes baseline.',
    ],
    ['/metainfer plan force=yes', 'plan has no argument "force"; it takes none.'],
    [
      '/metainfer bench baseline=llamacpp',
      'baseline is "llamacpp", did you mean llama.cpp?; it may be llama.cpp or none.',
    ],
    ['/metainfer bench baseline=', 'baseline is ""; it may be llama.cpp or none.'],
    [
      '/metainfer bench baseline="none',
      'baseline is ""none", did you mean none?; it may be llama.cpp or none.',
    ],
    ['/metainfer bench baseline=none baseline=none', 'baseline is given twice.'],
    ['/metainfer bench __proto__=x', 'bench has no argument "__proto__"; it takes baseline.'],
  ])('answers %s', (line, message) => {
    expect(messageOf(line)).toBe(message);
  });

  it.each([
    ['/metainfer fix the sum starts at 1', 'the sum starts at 1'],
    ['/metainfer  fix   norm_rms.cpp: "eps=1e-6" is `inside`  ', 'norm_rms.cpp: "eps=1e-6" is `inside`'],
    ['/metainfer fix a\0b\u0007c\u2028d', 'a b c d'],
    ['/metainfer fix /metainfer generate', '/metainfer generate'],
    [`/metainfer fix ${'ü'.repeat(1000)}`, 'ü'.repeat(1000)],
  ])('takes the words after fix as they are: %j', (line, what) => {
    expect(parseCommands(line)).toEqual([{ kind: 'command', name: 'fix', arguments: { what } }]);
  });

  it.each([
    [
      '/metainfer fix',
      'fix needs to know what is wrong, as in: /metainfer fix the mean leaves out the last column',
    ],
    [
      '/metainfer fix \u0007',
      'fix needs to know what is wrong, as in: /metainfer fix the mean leaves out the last column',
    ],
    [
      `/metainfer fix ${'x'.repeat(1001)}`,
      '1001 characters follow fix, and it takes up to 1000; please shorten it.',
    ],
  ])('answers %s', (line, message) => {
    expect(messageOf(line)).toBe(message);
  });

  it('takes five commands of a comment and says that it left the rest alone', () => {
    const parsed = parseCommands('/metainfer help\n'.repeat(7));
    expect(parsed.map(({ kind }) => kind)).toEqual([...Array(5).fill('command'), 'not-understood']);
    expect(messageOf('/metainfer help\n'.repeat(5))).toMatch(/^understood/);
    expect(parsed[5]).toMatchObject({ message: expect.stringContaining('5 commands') });
  });

  it('keeps what it repeats of a line short', () => {
    const [parsed] = parseCommands(`/metainfer ${'😀'.repeat(500)}`);
    expect(parsed).toMatchObject({ kind: 'not-understood' });
    expect(JSON.stringify(parsed).length).toBeLessThan(500);
    expect(JSON.stringify(parsed)).not.toMatch(/\\ud[89a-f]/i);
  });
});

describe('help', () => {
  it('lists every command once, apart those that somebody may not use', () => {
    const help = renderHelp(commandTable, { allowed: ['read', 'plan'] });
    const [own, others] = help.split('These need more permission');
    for (const { name, capability } of commandTable) {
      const part = capability === 'read' || capability === 'plan' ? own : others;
      expect(part).toContain(`\`/metainfer ${name}`);
      expect(help.split(`\`/metainfer ${name}`)).toHaveLength(2);
    }
  });

  it('speaks of no missing permission to somebody who has all', () => {
    expect(renderHelp(commandTable, { allowed: capabilities })).not.toContain('permission');
  });

  it('holds no command itself: quoting or sending it starts nothing', () => {
    expect(parseCommands(renderHelp(commandTable, { allowed: ['read'] }))).toEqual([]);
  });
});

describe('hostile comments', () => {
  it('never throws, whatever the body', () => {
    const piece = fc.constantFrom(
      '/metainfer',
      ' status',
      '\n',
      '\r',
      '> ',
      '```',
      '`',
      '<!--',
      '-->',
      '- ',
      '=',
      '"',
      '\0',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ unit: 'binary' }))), (parts) => {
        for (const command of parseCommands(parts.join(''))) expect(command).toHaveProperty('kind');
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['quotation marks', '>'.repeat(65_000)],
    ['quotations and lists in turn', '> - '.repeat(16_000)],
    ['list markers', '- '.repeat(32_000)],
    ['opening brackets', '['.repeat(65_000)],
    ['back-ticks', Array.from({ length: 350 }, (_, index) => '`'.repeat(index)).join(' ')],
    [
      'a list that grows inwards',
      Array.from({ length: 250 }, (_, index) => `${' '.repeat(2 * index)}- a`).join('\n'),
    ],
  ])('reads a comment of %s quickly, and the command after it', (_, noise) => {
    expect(parseCommands(`${noise}\n\n/metainfer status`)).toEqual([status]);
  });
});
