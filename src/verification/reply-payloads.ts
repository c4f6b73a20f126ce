import type { z } from 'zod';
import { EngineFailure } from './engine-channel.ts';
import { decodeF32 } from './protocol-frames.ts';

/** Throws EngineFailure where the payload is not JSON of this form. */
export function parseJson<T>(operation: string, schema: z.ZodType<T>, payload: Buffer): T {
  let json: unknown;
  try {
    json = JSON.parse(payload.toString('utf8'));
  } catch {
    throw new EngineFailure('malformed', operation, 'the reply is not JSON');
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new EngineFailure(
    'malformed',
    operation,
    `the reply breaks its schema at ${issue?.path.join('.')}: ${issue?.message}`,
  );
}

/** Cuts a payload of f32 into rows; throws EngineFailure where its size is another. */
export function rows(operation: string, payload: Buffer, count: number, width: number): Float32Array[] {
  if (payload.length !== 4 * count * width) {
    const expected = `${4 * count * width} bytes (${count} rows of ${width})`;
    throw new EngineFailure(
      'malformed',
      operation,
      `the reply holds ${payload.length} bytes instead of ${expected}`,
    );
  }
  const all = decodeF32(payload);
  return Array.from({ length: count }, (_, row) => all.subarray(row * width, (row + 1) * width));
}
