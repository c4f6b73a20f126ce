import { z } from 'zod';

const Message = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content: z.union([z.string(), z.array(z.object({ type: z.literal('text'), text: z.string() }))]).nullish(),
});

const ResponseFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    json_schema: z.object({
      name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
      strict: z.boolean().nullish(),
      schema: z.record(z.string(), z.unknown()),
    }),
  }),
]);

/** The parameters of POST /v1/chat/completions that this double knows; any other is refused as OpenAI refuses it. */
export const CompletionBody = z.strictObject({
  model: z.string(),
  messages: z.array(Message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_usage: z.boolean().optional() }).nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  n: z.literal(1).nullish(),
  user: z.string().optional(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high']).optional(),
  response_format: ResponseFormat.optional(),
});
export type CompletionBody = z.infer<typeof CompletionBody>;

/** Every place where a schema is not what `strict: true` demands: all keys required, no others allowed. */
export function findLooseObjects(schema: unknown, path = ''): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema))
    return schema.flatMap((part, index) => findLooseObjects(part, `${path}/${index}`));
  const node = schema as Record<string, unknown>;
  const within = Object.entries(node).flatMap(([key, part]) => findLooseObjects(part, `${path}/${key}`));
  if (node.type !== 'object' || typeof node.properties !== 'object' || node.properties === null)
    return within;
  const required = Array.isArray(node.required) ? node.required : [];
  const isClosed = node.additionalProperties === false;
  const isComplete = Object.keys(node.properties).every((key) => required.includes(key));
  return isClosed && isComplete ? within : [path === '' ? '/' : path, ...within];
}
