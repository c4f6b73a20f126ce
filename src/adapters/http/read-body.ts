import type { IncomingMessage } from 'node:http';

export type BodyReading =
  | { readonly kind: 'whole'; readonly body: Buffer }
  /** Larger than one body may be; more than may be held at once; or the sender went away. */
  | { readonly kind: 'too-large' | 'too-many' | 'cut-off' };

export type BodyReader = (request: IncomingMessage) => Promise<BodyReading>;

/**
 * Reads bodies into memory, counting as they come: a chunked one says nothing of its length beforehand.
 * @param limit bytes of one body
 * @param total bytes of all bodies that are being read at the same time
 */
export function createBodyReader({
  limit,
  total,
}: {
  readonly limit: number;
  readonly total: number;
}): BodyReader {
  let held = 0;
  return (request) => {
    if (Number(request.headers['content-length'] ?? 0) > limit)
      return Promise.resolve({ kind: 'too-large' as const });
    return new Promise<BodyReading>((resolve) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const end = (reading: BodyReading): void => {
        request.off('data', take);
        held -= size;
        size = 0;
        resolve(reading);
      };
      const take = (chunk: Buffer): void => {
        size += chunk.length;
        held += chunk.length;
        chunks.push(chunk);
        if (size <= limit && held <= total) return;
        request.pause();
        end({ kind: size > limit ? 'too-large' : 'too-many' });
      };
      request.on('data', take);
      request.once('end', () => end({ kind: 'whole', body: Buffer.concat(chunks) }));
      request.once('error', () => end({ kind: 'cut-off' }));
      request.once('close', () => end({ kind: 'cut-off' }));
    });
  };
}
