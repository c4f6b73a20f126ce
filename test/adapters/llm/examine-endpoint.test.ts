import { afterAll, describe, expect, it } from 'vitest';
import { examineEndpoint } from '../../../src/adapters/llm/examine-endpoint.ts';
import { LlmSettings } from '../../../src/model/llm-settings.ts';
import { CommandLine } from '../../fixtures/command-line.ts';
import type { EndpointTraits } from '../../support/model-server/server-options.ts';
import { completionOf, type Handler, never, openDouble, openOddEndpoint, sendJson } from './open-endpoint.ts';

const cli = new CommandLine();
afterAll(() => cli.close());

async function examine(
  endpoint: EndpointTraits,
  settings: Readonly<Record<string, unknown>> = {},
  apiKey?: string,
): Promise<Record<string, string>> {
  const { settings: given } = await openDouble({ endpoint });
  const findings = await examineEndpoint(LlmSettings.parse({ ...given, ...settings }), apiKey, never);
  return Object.fromEntries(
    findings.map(({ name, status, found, needed }) => [name, `${status}: ${found}; ${needed}`]),
  );
}

describe('what doctor finds at an endpoint', () => {
  it('is models, a small answer with its usage, a stream and structured output', async () => {
    const found = await examine({ key: 'sk-right-key-for-this' }, {}, 'sk-right-key-for-this');
    expect(found).toEqual({
      llm: expect.stringMatching(/^ok: http:\/\/127.*\/v1, key from METAINFER_LLM_API_KEY/),
      'llm models': 'ok: test-double; ',
      'llm answer': expect.stringMatching(/^ok: test-double answers in \d+\.\d s, \d+ \+ \d+ tokens; $/),
      'llm stream': expect.stringMatching(/^ok: \d+ pieces?, with usage at the end; $/),
      'llm schema': 'ok: JSON Schema is accepted and kept; ',
    });
  });

  it('is what the endpoint cannot do, and what happens then', async () => {
    const found = await examine(
      { streaming: false, structuredOutput: false, usage: false, refusedParameters: ['seed'] },
      { seed: 3 },
    );
    expect(found['llm answer']).toMatch(
      /^optional-missing: .*no usage reported; does not accept seed; .*counts as the most/,
    );
    expect(found['llm stream']).toMatch(/^optional-missing: refused; .*one piece/);
    expect(found['llm schema']).toMatch(/^optional-missing: refused; .*fences/);
    expect(
      (await examine({ structuredOutput: false }, { structured_output: 'json_schema' }))['llm schema'],
    ).toMatch(/^missing: refused/);
  });

  it('is a missing answer with the reason where key, model or address are wrong', async () => {
    const wrongKey = await examine({ key: 'sk-right-key-for-this' }, {}, 'sk-wrong-key-for-this');
    expect(wrongKey['llm answer']).toMatch(
      /^missing: none; .*refused the key \(401\).*METAINFER_LLM_API_KEY/,
    );
    expect(JSON.stringify(wrongKey)).not.toContain('sk-wrong');
    const wrongModel = await examine({ models: ['a', 'b'] }, { model: 'c' });
    expect(wrongModel['llm models']).toMatch(/^optional-missing: a, b; c is not in the list/);
    expect(wrongModel['llm answer']).toMatch(/^missing: none; .*no model "c"/);
    const nowhere = LlmSettings.parse({ base_url: 'http://127.0.0.1:9/v1', model: 'm' });
    const findings = await examineEndpoint(nowhere, undefined, never);
    expect(findings.map(({ name }) => name)).toEqual(['llm', 'llm answer']);
    expect(findings[1]!.needed).toMatch(/Nothing answers at .*started/);
  });

  it('is a schema that is accepted but not kept', async () => {
    const handler: Handler = (_, response, request) =>
      request.method === 'GET'
        ? sendJson(response, 404, {})
        : sendJson(response, 200, completionOf('Yes, it works!'));
    const { baseUrl } = await openOddEndpoint(handler);
    const findings = await examineEndpoint(
      LlmSettings.parse({ base_url: baseUrl, model: 'm' }),
      undefined,
      never,
    );
    const byName = Object.fromEntries(findings.map((finding) => [finding.name, finding]));
    expect(byName['llm models']).toMatchObject({ status: 'optional-missing', found: 'not listed' });
    expect(byName['llm answer']).toMatchObject({ status: 'ok' });
    expect(byName['llm schema']).toMatchObject({
      status: 'optional-missing',
      found: 'accepted, but not kept',
    });
  });
});

describe('metainfer doctor --llm', () => {
  it('shows the endpoint after the machine, and its key nowhere', async () => {
    const { settings } = await openDouble({ endpoint: { key: 'sk-right-key-for-this' } });
    const environment = { METAINFER_LLM_API_KEY: 'sk-right-key-for-this' };
    const { code, stdout, stderr } = await cli.run(['doctor', '--llm', String(settings.base_url)], {
      environment,
    });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/ok {6}memory[\s\S]*ok {6}llm schema/)]);
    expect(stdout + stderr).not.toContain('sk-right');
    const wrong = await cli.run(['doctor', '--json'], {
      environment: { METAINFER_LLM: String(settings.base_url), METAINFER_LLM_MODEL: 'test-double' },
    });
    expect(wrong.code).toBe(3);
    expect(wrong.stdout).toContain(
      'No key was sent: put one into the environment variable METAINFER_LLM_API_KEY',
    );
  });

  it('is refused with what to name where the settings cannot be read', async () => {
    const { code, stderr } = await cli.run(['doctor', '--llm', 'nowhere.yaml']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('nowhere.yaml (ENOENT)')]);
  });
});
