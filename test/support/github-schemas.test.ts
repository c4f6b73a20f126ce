import { describe, expect, it } from 'vitest';
import { openGitHubSchemas } from './github-schemas.ts';
import { toJsonSchema } from './openapi-to-json-schema.ts';

const schemas = openGitHubSchemas();
const ref = {
  ref: 'refs/heads/main',
  node_id: 'x',
  url: 'http://127.0.0.1/x',
  object: { type: 'commit', sha: 'a'.repeat(40), url: 'http://127.0.0.1/x' },
};
const route = '/repos/{owner}/{repo}/git/ref/{ref}';

describe("GitHub's published schemas", () => {
  it('pass an answer that is as GitHub publishes it', () => {
    expect(schemas.checkResponse('GET', route, 200, ref)).toEqual([]);
  });

  it('find a missing field, a wrong type and an invented field, each with its place', () => {
    const { node_id: _, ...without } = ref;
    expect(schemas.checkResponse('GET', route, 200, without).join()).toContain("'node_id'");
    const wrong = { ...ref, object: { ...ref.object, url: 'not a url' } };
    expect(schemas.checkResponse('GET', route, 200, wrong).join()).toContain('/object/url');
    expect(schemas.checkResponse('GET', route, 200, { ...ref, color: 1 }).join()).toContain('color');
  });

  it('find a status that GitHub does not document and an error without a message', () => {
    expect(schemas.checkResponse('GET', route, 201, ref)).toHaveLength(1);
    expect(schemas.checkResponse('GET', route, 404, { message: 'Not Found' })).toEqual([]);
    expect(schemas.checkResponse('GET', route, 404, { message: 404 })).toHaveLength(1);
    expect(schemas.checkResponse('GET', route, 418, { message: 'x', documentation_url: 'x' })).toEqual([]);
  });

  it('find an operation that was never copied', () => {
    expect(schemas.checkResponse('GET', '/nope', 200, {}).join()).toContain('trim-openapi.ts');
  });

  it('find what is wrong with a webhook, and a webhook that does not exist', () => {
    expect(schemas.checkWebhook('create', null, {})).not.toEqual([]);
    expect(schemas.checkWebhook('issues', 'vanished', {})).toEqual([
      'GitHub knows no webhook issues-vanished',
    ]);
  });
});

describe('toJsonSchema', () => {
  it('turns nullable into a type and leaves properties of that name alone', () => {
    const openApi = {
      type: 'object',
      description: 'prose',
      properties: {
        description: { type: 'string', nullable: true },
        nullable: { type: 'boolean', example: true },
        owner: { nullable: true, allOf: [{ $ref: '#/x' }] },
        state: { type: 'string', enum: ['open'], nullable: true },
      },
    };
    expect(toJsonSchema(openApi)).toEqual({
      type: 'object',
      properties: {
        description: { type: ['string', 'null'] },
        nullable: { type: 'boolean' },
        owner: { anyOf: [{ allOf: [{ $ref: '#/x' }] }, { type: 'null' }] },
        state: { type: ['string', 'null'], enum: ['open', null] },
      },
    });
  });
});
