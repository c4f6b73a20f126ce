import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { findConstraintBlock } from '../../src/webhooks/find-constraint-block.ts';
import { read, validText } from '../constraints/read-case.ts';

const form = join(import.meta.dirname, '../../.github/ISSUE_TEMPLATE/engine-request.yml');

interface Field {
  readonly id?: string;
  readonly attributes: { readonly label: string; readonly value: string; readonly render?: string };
}
const fields = (parse(readFileSync(form, 'utf8')) as { body: Field[] }).body;
const { attributes: constraintField } = fields.find(({ id }) => id === 'constraints')!;

/** The body that GitHub makes of the filled-in form: CRLF, a heading for each field, a fence where it says `render`. */
function formBody(constraints: string): string {
  const { label, render } = constraintField;
  return [
    ...[`### ${label}`, '', `\`\`\`${render}`, ...constraints.trimEnd().split('\n'), '```', ''],
    ...['### What is it for?', '', '_No response_'],
  ].join('\r\n');
}

const text = 'apiVersion: metainfer/v1\nname: x';

describe('the issue form', () => {
  it('holds a constraint file that the bot accepts as it is, without a word', () => {
    const block = findConstraintBlock(formBody(constraintField.value));
    expect(block).toMatchObject({ kind: 'found', firstLine: 4 });
    const { constraints, problems } = read(block.kind === 'found' ? block.text : '', 'github');
    expect(problems).toEqual([]);
    expect(constraints).toBeDefined();
  });

  it('takes what stands in it for a constraint file, whatever it says', () => {
    expect(findConstraintBlock(formBody('name: x'))).toMatchObject({ kind: 'found', text: 'name: x' });
    expect(findConstraintBlock(formBody(''))).toMatchObject({ kind: 'found', text: '' });
  });
});

describe('a free body', () => {
  it.each([
    ['a yaml fence', `\`\`\`yaml\n${text}\n\`\`\``],
    ['a YML fence of tildes', `~~~YML\n${text}\n~~~`],
    ['a fence without a language', `\`\`\`\n${text}\n\`\`\``],
    ['a longer fence', `\`\`\`\`\`yaml\n${text}\n\`\`\`\`\``],
    ['a fence that is never closed', `\`\`\`yaml\n${text}`],
    ['a fence with more after the language', `\`\`\`yaml title="engine"\n${text}\n\`\`\``],
    ['a fence in a list', `1. this one:\n   \`\`\`yaml\n   ${text.replace('\n', '\n   ')}\n   \`\`\``],
    ['a fence in details', `<details>\n\n\`\`\`yaml\n${text}\n\`\`\`\n\n</details>`],
    ['a fence below a comment', `<!-- fill in -->\n\`\`\`yaml\n${text}\n\`\`\``],
    [
      'a fence beside one of other software',
      `\`\`\`yaml\napiVersion: apps/v1\n\`\`\`\n\n\`\`\`yaml\n${text}\n\`\`\``,
    ],
  ])('is read in %s', (_, body) => {
    expect(findConstraintBlock(body)).toMatchObject({ kind: 'found', text });
  });

  it.each([['metainfer/v2'], ['metainfer'], ['MetaInfer/v1'], ['metainfr/v1'], ['"metainfer/v1"']])(
    'is read with the version %s: the person gets an answer',
    (version) => {
      expect(findConstraintBlock(`\`\`\`yaml\napiVersion: ${version}\n\`\`\``)).toMatchObject({
        kind: 'found',
      });
    },
  );

  it.each([['apiversion'], ['api_version'], ['apiVerison'], ['"apiVersion"'], ['\u200bapiVersion']])(
    'is read with the key %s',
    (key) => {
      expect(findConstraintBlock(`\`\`\`yaml\n${key}: metainfer/v1\n\`\`\``)).toMatchObject({
        kind: 'found',
      });
    },
  );

  it.each([
    ['an empty body', ''],
    ['text alone', 'apiVersion: metainfer/v1'],
    ['an indented block', `    apiVersion: metainfer/v1`],
    ['a quotation', '> ```yaml\n> apiVersion: metainfer/v1\n> ```'],
    ['a quotation within a list', '- > ```yaml\n  > apiVersion: metainfer/v1\n  > ```'],
    ['an HTML comment', `<!--\n\`\`\`yaml\n${text}\n\`\`\`\n-->`],
    ['a block in another language', `\`\`\`json\n${text}\n\`\`\``],
    ['a file of Kubernetes', '```yaml\napiVersion: v1\nkind: Pod\n```'],
    ['a mention in a comment of another file', '```yaml\nuses: metainfer/v1\n```'],
    ['inline code', '`apiVersion: metainfer/v1`'],
  ])('holds none: %s', (_, body) => {
    expect(findConstraintBlock(body)).toEqual({ kind: 'none' });
  });

  it('says where each begins when there are several', () => {
    const body = `\`\`\`yaml\n${text}\n\`\`\`\nor\n\`\`\`yaml\n${text}\n\`\`\``;
    expect(findConstraintBlock(body)).toEqual({ kind: 'several', firstLines: [2, 7] });
  });

  it('has none where it is longer than any body of GitHub', () => {
    expect(findConstraintBlock(`\`\`\`yaml\n${text}\n${'#'.repeat(140_000)}\n\`\`\``)).toEqual({
      kind: 'none',
    });
  });
});

describe('lines', () => {
  it.each([
    ['\n', 'line feeds'],
    ['\r\n', 'CRLF'],
    ['\r', 'lone carriage returns'],
  ])('of the block are those of the body, with %2$s', (end) => {
    const before = ['Hello', '', '> quoted', '', '- a list', '', ''];
    const body = [...before, '```yaml', ...validText.split('\n'), '```', 'Bye'].join(end);
    const broken = body.replace('threads: 2', 'thread: 2');
    const block = findConstraintBlock(broken);
    if (block.kind !== 'found') throw new Error(`found ${block.kind}`);
    const [problem] = read(block.text, 'github').problems;
    const line = broken.split(end)[block.firstLine - 1 + problem!.line! - 1];
    expect(line).toContain('thread: 2');
    expect(problem!.column).toBe(line!.indexOf('thread') + 1);
  });

  it('hold for any text around the block', () => {
    const line = fc.constantFrom(
      '',
      'text',
      '# heading',
      '- item',
      '> quote',
      '<!-- c -->',
      '***',
      'a\u2028b',
      '\u00a0',
      '`x`',
    );
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('\n', '\r\n', '\r'), (lines, end) => {
        // The empty line ends whatever stands before: a list, a quotation, a paragraph.
        const body = [...lines, '', '```yaml', 'apiVersion: metainfer/v1', '```'].join(end);
        expect(findConstraintBlock(body)).toEqual({
          kind: 'found',
          text: 'apiVersion: metainfer/v1',
          firstLine: lines.length + 3,
        });
      }),
    );
  });
});

describe('hostile bodies', () => {
  it('never make it throw', () => {
    const piece = fc.constantFrom(
      '```yaml\n',
      '~~~',
      '\n',
      '\r',
      '> ',
      '- ',
      'apiVersion: metainfer/v1',
      '### Constraint file\n',
      '<!--',
      '\0',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ unit: 'binary' }))), (parts) => {
        expect(['found', 'none', 'several']).toContain(findConstraintBlock(parts.join('')).kind);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['quotation marks', '>'.repeat(65_000)],
    ['nested quotations on many lines', `${'>'.repeat(300)}a\n`.repeat(200)],
    ['nested lists', `${'- '.repeat(300)}a\n`.repeat(100)],
    ['fences', '```\n'.repeat(16_001)],
    ['keys without a value', `\`\`\`\n${'a: '.repeat(21_000)}\n\`\`\``],
    ['spaces', `\`\`\`\n${' '.repeat(65_000)}x\n\`\`\``],
  ])('of %s are read quickly', (_, noise) => {
    expect(findConstraintBlock(`\`\`\`yaml\n${text}\n\`\`\`\n\n${noise}\n`)).toMatchObject({ kind: 'found' });
  });
});
