import type { ExpectedAnswer } from '../../model/language-model.ts';

/** What the prompt says about the form of the answer. It is the same whether or not the endpoint enforces a schema. */
export function describeFormat(expects: ExpectedAnswer, isStructured: boolean): string {
  if (expects.kind === 'json') {
    const schema = JSON.stringify(expects.schema);
    const form = isStructured ? 'with one JSON value' : 'with one JSON value in one ```json fence';
    return `=== Form of the answer ===\n\nAnswer ${form} that fits this JSON Schema, and nothing else:\n${schema}`;
  }
  const names = expects.paths.join(', ');
  if (isStructured) {
    return `=== Form of the answer ===\n\nAnswer with one JSON object {"files": [{"path": …, "text": …}]} and nothing else. Exactly these files, each once and whole: ${names}`;
  }
  const example = `\`\`\`cpp path=${expects.paths[0]}\n(the whole file)\n\`\`\``;
  return `=== Form of the answer ===\n\nAnswer with exactly these files, each once and whole: ${names}\nEach stands in one fenced block whose opening line names it; write no other block:\n${example}`;
}

/** `response_format` of the request. */
export function responseFormat(expects: ExpectedAnswer): Readonly<Record<string, unknown>> {
  const { name, schema } =
    expects.kind === 'json' ? expects : { name: 'files', schema: filesSchema(expects.paths) };
  return { type: 'json_schema', json_schema: { name, schema, strict: true } };
}

function filesSchema(paths: readonly string[]): Readonly<Record<string, unknown>> {
  const file = {
    type: 'object',
    properties: { path: { type: 'string', enum: paths }, text: { type: 'string' } },
    required: ['path', 'text'],
    additionalProperties: false,
  };
  return {
    type: 'object',
    properties: { files: { type: 'array', items: file } },
    required: ['files'],
    additionalProperties: false,
  };
}
