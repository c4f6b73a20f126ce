import { createHash } from 'node:crypto';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import type { FileProvenance } from '../model/engine.ts';

export const provenancePath = 'provenance.yaml';
const apiVersion = 'metainfer/engine-v1';

const sha256Text = z.string().regex(/^[0-9a-f]{64}$/);
const Origin = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('composer'), from: z.string() }),
  z.strictObject({
    kind: z.literal('contract'),
    contract: z.string(),
    version: z.string(),
    sha256: sha256Text,
  }),
  z.strictObject({
    kind: z.literal('realization'),
    contract: z.string(),
    version: z.string(),
    contractSha256: sha256Text,
    realization: z.string(),
    realizationSha256: sha256Text,
    gateSha256: sha256Text.nullable(),
  }),
  z.strictObject({
    kind: z.literal('agent'),
    contract: z.string(),
    version: z.string(),
    contractSha256: sha256Text,
    gateSha256: sha256Text.nullable(),
    model: z.string().max(200),
    requestSha256: sha256Text,
  }),
]);

const ProvenanceFile = z.strictObject({
  apiVersion: z.literal(apiVersion),
  name: z.string(),
  cpp_lines: z.int().min(0),
  files: z.array(z.strictObject({ path: z.string(), sha256: sha256Text, origin: Origin })),
});
export type ProvenanceFile = z.infer<typeof ProvenanceFile>;

/** Content hashes only: no date and no commit, so that the same inputs give the same bytes. */
export function renderProvenance(name: string, lineCount: number, files: readonly FileProvenance[]): string {
  const comment =
    '# Where every file of this engine comes from, by content hash. `metainfer verify` refuses an engine whose files\n' +
    '# differ. The figures in README.md and the report come after verification and do not count.\n';
  const body: ProvenanceFile = { apiVersion, name, cpp_lines: lineCount, files: [...files] };
  return comment + stringify(body, { lineWidth: 0 });
}

/** Undefined where the text is no provenance file of this program. */
export function parseProvenance(text: string): ProvenanceFile | undefined {
  try {
    return ProvenanceFile.safeParse(parse(text, { maxAliasCount: 0 })).data;
  } catch {
    return undefined;
  }
}

export const figuresStart = '<!-- figures: written by `metainfer verify` and `metainfer bench` -->';
export const figuresEnd = '<!-- end of figures -->';

/**
 * README.md with these figures in the place kept for them, instead of any earlier ones; unchanged without that place.
 * The figures cannot end their place: behind it, text would count as the composer's.
 */
export function insertFigures(readme: string, figures: string): string {
  const start = readme.indexOf(figuresStart);
  const end = readme.indexOf(figuresEnd, start);
  if (start < 0 || end < 0) return readme;
  const kept = figures.trim().replaceAll('<!--', '&lt;!--');
  return `${readme.slice(0, start + figuresStart.length)}\n${kept}\n${readme.slice(end)}`;
}

/** Hash of a file as provenance counts it: the figures in README.md are left out. */
export function hashEngineFile(path: string, text: string): string {
  return createHash('sha256')
    .update(path === 'README.md' ? withoutFigures(text) : text)
    .digest('hex');
}

function withoutFigures(text: string): string {
  const start = text.indexOf(figuresStart);
  const end = text.indexOf(figuresEnd, start);
  return start < 0 || end < 0 ? text : text.slice(0, start + figuresStart.length) + text.slice(end);
}
