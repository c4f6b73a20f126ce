import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLlmSettings } from '../../../src/adapters/llm/open-llm-settings.ts';
import { readLlmSettings } from '../../../src/adapters/llm/read-llm-settings.ts';
import { settingExpectations } from '../../../src/adapters/llm/setting-expectations.ts';
import { LlmSettings } from '../../../src/model/llm-settings.ts';
import { openDouble, openOddEndpoint, sendJson, temporaryFolder } from './open-endpoint.ts';

const whole = `base_url: https://api.openai.com/v1
api_key_env: OPENAI_API_KEY
model: gpt-5
reasoning_effort: low
roles:
  reviewer: { model: gpt-5-mini, temperature: 0 }
prices:
  gpt-5: { input: 1.25, cached_input: 0.125, output: 10 }
  gpt-5-mini: { input: 0.25, output: 2 }
limits: { hard_tokens: 400000, hard_usd: 3 }
`;

function problemsOf(text: string): string {
  try {
    readLlmSettings(text, 'llm.yaml');
  } catch (error) {
    expect(error).toMatchObject({ code: 'SETTINGS_INVALID' });
    return (error as Error).message;
  }
  return '';
}

describe('settings of a language model', () => {
  it('are read from YAML, with defaults for what is not there', () => {
    expect(readLlmSettings(whole, 'llm.yaml')).toMatchObject({
      model: 'gpt-5',
      roles: { reviewer: { model: 'gpt-5-mini', temperature: 0 } },
      limits: { hard_tokens: 400_000, hard_usd: 3, attempts_per_contract: 3 },
      structured_output: 'auto',
      stall_seconds: 120,
    });
  });

  it.each([
    ['', /llm\.yaml:1:1 base_url: is missing/],
    ['model: m\n', /base_url: is missing or has no value; expected the address/],
    [`${whole}temprature: 1\n`, /llm\.yaml:11:1 temprature: is not a setting\. Did you mean temperature\?/],
    [
      `${whole}api_key: sk-proj-0123456789abcdef\n`,
      /llm\.yaml:11:1 api_key: is not a setting\. A key never stands in a file/,
    ],
    [
      whole.replace('temperature: 0', 'temperature: hot'),
      /:6:34 roles\.reviewer\.temperature: is "hot"; expected a number from 0 to 2/,
    ],
    [
      whole.replace('reviewer:', 'critic:'),
      /:6:3 roles\.critic: is not a setting\. Known: implementer, reviewer/,
    ],
    [whole.replace('  reviewer: {', '  reviewer: { top_p: 1,'), /roles\.reviewer\.top_p: is not a setting/],
    [
      whole.replace('output: 10', 'out: 10'),
      /prices\.gpt-5\.output: is missing[\s\S]*prices\.gpt-5\.out: is not a setting/,
    ],
    [
      whole.replace('OPENAI_API_KEY', 'sk-proj-0123456789abcdefghij'),
      /:2:1 api_key_env: is "\[redacted\]"; expected the name of an environment variable/,
    ],
    [
      whole.replace('api.openai.com', 'me:hunter2hunter2@host'),
      /:1:1 base_url: holds a user name or password/,
    ],
    [
      whole.replace('https://api.openai.com/v1', 'localhost:11434/v1'),
      /base_url: is "localhost:11434\/v1"; expected the address/,
    ],
    [whole.replace('/v1', '/v1?api-version=3'), /base_url: has a part after \?/],
    [
      whole.replace('400000', '4e5x'),
      /:10:11 limits\.hard_tokens: is "4e5x"; expected a whole number of tokens/,
    ],
    [
      whole.replace('hard_tokens: 400000', 'hard_tokens: 10, soft_tokens: 20'),
      /limits\.soft_tokens: is above hard_tokens/,
    ],
    [
      whole.replace('  gpt-5-mini: { input: 0.25, output: 2 }\n', ''),
      /limits: a limit in USD cannot be kept without the price of gpt-5-mini/,
    ],
    [whole.replace('model: gpt-5\n', 'model: gpt-5\nmodel: gpt-6\n'), /:4:1: not valid YAML: .*unique/i],
    ['a: [1, 2\n', /not valid YAML/],
    ['- a\n- b\n', /expected a mapping of settings/],
    ['just text', /expected a mapping of settings/],
    [`base_url: &a http://h/v1\nmodel: *a\n`, /llm\.yaml:2:8: an alias/],
    [
      'base_url: http://h/v1\nmodel: "m\\e[2J"\n',
      /llm\.yaml:2:1 model: is a text .*expected the name of a model/,
    ],
    [
      whole.replace('gpt-5-mini,', '"a\\nb",'),
      /:6:15 roles\.reviewer\.model: is a text .*control characters/,
    ],
    ['base_url: "http://h/\\e[2J"\nmodel: m\n', /base_url: is a text .*expected the address/],
    ['x'.repeat(70_000), /longer than 64 KiB/],
  ])('say what is wrong where: %#', (text, message) => {
    const shown = problemsOf(text);
    expect(shown).toMatch(message);
    expect(shown).not.toMatch(/hunter2|sk-proj/);
  });

  it('tell of every problem at once, in the order of the file', () => {
    const shown = problemsOf('base_url: http://h/v1\nmodel: 3\nconcurrency: 0\nstall_seconds: soon\n');
    expect(shown.split('\n')).toHaveLength(4);
    expect(shown).toMatch(
      /^3 settings need attention in llm\.yaml:\n- llm\.yaml:2:1 model: .*\n- llm\.yaml:3:1 .*\n- llm\.yaml:4:1 /,
    );
  });

  it('are as the README shows them, with its defaults', () => {
    const readme = readFileSync(new URL('../../../src/adapters/llm/README.md', import.meta.url), 'utf8');
    const shown = readLlmSettings(/```yaml\n([\s\S]*?)```/.exec(readme)![1]!, 'README.md');
    const { base_url, model, roles, prices, limits, ...defaults } = shown;
    expect(LlmSettings.parse({ base_url, model })).toMatchObject(defaults);
    const { soft_tokens, ...defaultLimits } = limits;
    expect(LlmSettings.parse({ base_url, model }).limits).toEqual(defaultLimits);
    expect([soft_tokens, Object.keys(roles), Object.keys(prices)]).toEqual([
      1_600_000,
      ['reviewer'],
      [model],
    ]);
  });

  it('have an expectation in words for every key of the schema', () => {
    const keys = (shape: Record<string, unknown>, prefix = ''): string[] =>
      Object.keys(shape).map((name) => `${prefix}${name}`);
    const { limits, roles, prices } = LlmSettings.shape;
    const limitShape = (limits.def.innerType as unknown as { shape: Record<string, unknown> }).shape;
    const roleShape = (roles.def.innerType.def.valueType as unknown as { shape: Record<string, unknown> })
      .shape;
    const priceShape = (prices.def.innerType.def.valueType as unknown as { shape: Record<string, unknown> })
      .shape;
    const wanted = [
      ...keys(LlmSettings.shape),
      ...keys(limitShape, 'limits.'),
      ...['roles.*', ...keys(roleShape, 'roles.*.')],
      ...['prices.*', ...keys(priceShape, 'prices.*.')],
    ];
    expect(Object.keys(settingExpectations).sort()).toEqual(wanted.sort());
  });
});

describe('a language model that a person names', () => {
  const noKey = () => undefined;

  it('is an address with a model, or a file whose model another takes the place of', async () => {
    const file = join(temporaryFolder(), 'llm.yaml');
    writeFileSync(file, whole);
    const byUrl = await openLlmSettings({
      llm: 'http://localhost:11434/v1/',
      model: 'qwen3:8b',
      keyOf: noKey,
    });
    expect(byUrl.settings).toMatchObject({ base_url: 'http://localhost:11434/v1', model: 'qwen3:8b' });
    expect(byUrl.apiKey).toBeUndefined();
    const byFile = await openLlmSettings({ llm: file, model: undefined, keyOf: (name) => `key-of-${name}` });
    expect([byFile.settings.model, byFile.apiKey]).toEqual(['gpt-5', 'key-of-OPENAI_API_KEY']);
    const other = await openLlmSettings({ llm: file, model: 'gpt-5-mini', keyOf: noKey });
    expect([other.settings.model, other.settings.roles.reviewer]).toEqual(['gpt-5-mini', { temperature: 0 }]);
    expect(readFileSync(file, 'utf8')).toBe(whole);
  });

  it("gets OpenAI's key at OpenAI alone", async () => {
    const keyOf = (name: string) => (name === 'OPENAI_API_KEY' ? 'sk-openai' : undefined);
    const openai = await openLlmSettings({ llm: 'https://api.openai.com/v1', model: 'gpt-5', keyOf });
    const other = await openLlmSettings({
      llm: 'https://api.openai.com.evil.example/v1',
      model: 'gpt-5',
      keyOf,
    });
    expect([openai.apiKey, other.apiKey]).toEqual(['sk-openai', undefined]);
  });

  it('needs no model name where the endpoint serves one, and lists them where it serves several', async () => {
    const { settings: one } = await openDouble({});
    const opened = await openLlmSettings({ llm: String(one.base_url), model: undefined, keyOf: noKey });
    expect(opened.settings.model).toBe('test-double');
    const { settings: two } = await openDouble({ endpoint: { models: ['a', 'b'] } });
    await expect(
      openLlmSettings({ llm: String(two.base_url), model: undefined, keyOf: noKey }),
    ).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(/--model NAME.*The endpoint has a, b\./),
    });
    const { baseUrl } = await openOddEndpoint((_, response) =>
      sendJson(response, 404, { detail: 'Not Found' }),
    );
    await expect(openLlmSettings({ llm: baseUrl, model: undefined, keyOf: noKey })).rejects.toThrow(
      /--model/,
    );
  });

  it.each([
    [
      [{ id: '\u001b[2J\u001b]0;pwn\u0007evil\nfake line' }],
      /The endpoint has 1 whose name cannot be used\.$/,
    ],
    [[{ id: 'a' }, { id: 'x'.repeat(5000) }, { id: 7 }, null], /has a and 2 whose names cannot be used\.$/],
    [[{ id: 'Bearer sk-secret-key-of-the-test' }], /has 1 whose name cannot be used\.$/],
    [[], /has none\.$/],
  ])('takes no name that steers a terminal, is endless or holds a key: %#', async (data, message) => {
    const { baseUrl } = await openOddEndpoint((_, response) => sendJson(response, 200, { data }));
    await expect(
      openLlmSettings({ llm: baseUrl, model: undefined, keyOf: () => 'sk-secret-key-of-the-test' }),
    ).rejects.toMatchObject({ code: 'USAGE', message: expect.stringMatching(message) });
    for (const model of ['m\u001b[2J', 'x'.repeat(201), ' ']) {
      await expect(openLlmSettings({ llm: baseUrl, model, keyOf: noKey })).rejects.toMatchObject({
        code: 'USAGE',
        message: expect.stringMatching(/--model or METAINFER_LLM_MODEL.*expected the name of a model/),
      });
    }
  });

  it.each([
    ['./nowhere.yaml', /cannot be read from \.\/nowhere\.yaml \(ENOENT\)\. Name the base URL/],
    ['ftp://host/v1', /The address of the language model is "ftp:\/\/host\/v1"; expected/],
    ['http://user:hunter2hunter2@host/v1', /holds a user name or password/],
  ])('is refused with what to name instead: %s', async (llm, message) => {
    const opening = openLlmSettings({ llm, model: 'm', keyOf: noKey });
    await expect(opening).rejects.toMatchObject({
      code: 'SETTINGS_INVALID',
      message: expect.stringMatching(message),
    });
    await expect(opening).rejects.not.toThrow('hunter2');
  });

  it('is refused with a key that no header can carry', async () => {
    const opening = openLlmSettings({ llm: 'http://h/v1', model: 'm', keyOf: () => 'sk-two\nlines' });
    await expect(opening).rejects.toThrow(/METAINFER_LLM_API_KEY holds blanks, line breaks/);
    await expect(opening).rejects.not.toThrow('sk-two');
  });
});
