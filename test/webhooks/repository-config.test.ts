import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { formatProblem } from '../../src/model/problem.ts';
import { RepositoryConfig } from '../../src/model/repository-config.ts';
import { expectations, parseRepositoryConfig } from '../../src/webhooks/repository-config.ts';

const path = '.github/metainfer.yml';
const problemsOf = (text: string) => parseRepositoryConfig(text, path).problems.map(formatProblem);

describe('a good file', () => {
  it.each([[undefined], [''], ['# nothing yet\n'], ['{}']])('%j means the defaults', (text) => {
    expect(parseRepositoryConfig(text, path)).toEqual({
      config: {
        allow: { plan: 'anyone', generate: 'write', runner: 'write' },
        knowledge: { share_lessons: false },
        limits: { runs_per_actor_per_day: 20 },
        generation: { auto_approve_tokens: 300_000 },
        runner: { extra_labels: [] },
      },
      problems: [],
    });
  });

  it('is read with CRLF and keeps what it does not name at the default', () => {
    const text =
      'allow:\r\n  generate: maintain\r\nknowledge:\r\n  repository: acme/metainfer-bot\r\nrunner:\r\n  extra_labels: [lab-2]\r\n';
    expect(parseRepositoryConfig(text, path)).toMatchObject({
      config: {
        allow: { plan: 'anyone', generate: 'maintain' },
        knowledge: { repository: 'acme/metainfer-bot' },
        runner: { extra_labels: ['lab-2'] },
      },
      problems: [],
    });
  });

  it('with an invisible character is used, and the character named', () => {
    const { config, problems } = parseRepositoryConfig('allow:\n  plan:\u00a0write\n', path);
    expect(config?.allow.plan).toBe('write');
    expect(problems).toMatchObject([{ severity: 'warning', code: 'odd-space', line: 2 }]);
  });
});

describe('a broken file', () => {
  it('gives no configuration and every problem with its place', () => {
    const text = [
      'allow:',
      '  genrate: write',
      '  plan: writer',
      'limits:',
      '  runs_per_actor_per_day: 0',
      'generation: {auto_approve_tokens: -1, tokens_per_run: 300k}',
      'knowledge: {repository: foo}',
      'runner:',
      '  extra_labels: [ok, "a b"]',
      'share_lessons: true',
    ].join('\n');
    expect(parseRepositoryConfig(text, path).config).toBeUndefined();
    expect(problemsOf(text)).toEqual([
      '.github/metainfer.yml:2:3 allow.genrate: unknown key "genrate" under allow. Did you mean generate?',
      '.github/metainfer.yml:3:9 allow.plan: found "writer"; expected anyone, read, triage, write, maintain or admin. Did you mean write?',
      '.github/metainfer.yml:5:27 limits.runs_per_actor_per_day: found 0; expected a whole number from 1 to 1000.',
      '.github/metainfer.yml:6:35 generation.auto_approve_tokens: found -1; expected a whole number of tokens from 0 to 1000000000; a plan that expects more waits for approval.',
      '.github/metainfer.yml:6:55 generation.tokens_per_run: found "300k"; expected a whole number of tokens from 0 to 1000000000.',
      '.github/metainfer.yml:7:25 knowledge.repository: found "foo"; expected the owner/name of a repository.',
      '.github/metainfer.yml:9:22 runner.extra_labels.1: found "a b"; expected a list of at most 8 runner labels, each of letters, digits, dots, dashes and underscores.',
      '.github/metainfer.yml:10:1 share_lessons: unknown key "share_lessons" at the top level. Did you mean knowledge.share_lessons?',
    ]);
  });

  it.each([
    ['- a', '.github/metainfer.yml:1:1: found no mapping; expected a mapping of settings.'],
    [
      'allow: 3',
      '.github/metainfer.yml:1:8 allow: found 3; expected plan, generate and runner, each with who may.',
    ],
    [
      'allow:\n  plan:\n',
      '.github/metainfer.yml:2:8 allow.plan: found nothing; expected anyone, read, triage, write, maintain or admin.',
    ],
    [
      'allow:\n\tplan: write',
      '.github/metainfer.yml:2:1: found a tab used as indentation; YAML indents with spaces only. Replace the tab by two spaces.',
    ],
    [
      'allow: &a {}',
      '.github/metainfer.yml:1:8: found an anchor, &a; this file holds plain values only. Write the value out, or put it in quotes if it is meant as text.',
    ],
  ])('%j is explained', (text, problem) => {
    expect(parseRepositoryConfig(text, path).config).toBeUndefined();
    expect(problemsOf(text)).toEqual([problem]);
  });

  it('cannot smuggle in a setting by a key of every object', () => {
    expect(problemsOf('__proto__: {allow: {generate: anyone}}')[0]).toContain('unknown key "__proto__"');
    expect(problemsOf('constructor: 1')[0]).toContain('unknown key "constructor"');
  });

  it('never makes it throw', () => {
    const piece = fc.constantFrom(
      'allow',
      ': ',
      '\n',
      '  ',
      'plan',
      'write',
      '- ',
      '{',
      '}',
      '[',
      '"',
      '&a',
      '\t',
      '__proto__',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ unit: 'binary' }))), (parts) => {
        const { config, problems } = parseRepositoryConfig(parts.join(''), path);
        expect(config === undefined).toBe(problems.some(({ severity }) => severity === 'error'));
      }),
      { numRuns: 500 },
    );
  });
});

it('says of every setting of the schema what it may be, and of no other', () => {
  const named: string[] = [];
  const visit = (schema: z.core.JSONSchema.JSONSchema, prefix: string): void => {
    for (const [key, child] of Object.entries(schema.properties ?? {})) {
      named.push(`${prefix}${key}`);
      visit(child as z.core.JSONSchema.JSONSchema, `${prefix}${key}.`);
    }
  };
  visit(z.toJSONSchema(RepositoryConfig, { io: 'input' }), '');
  expect(Object.keys(expectations).sort()).toEqual(named.sort());
});
