import { parse } from 'yaml';
import { z } from 'zod';
import { codeSpan } from '../model/escape-text.ts';
import type { RunDocuments } from '../model/run-record.ts';
import { count, paragraphs, table } from './markdown.ts';

/** As much of an engine's provenance.yaml as the summary shows. */
const Provenance = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      origin: z.object({
        kind: z.string(),
        contract: z.string().optional(),
        version: z.string().optional(),
        realization: z.string().optional(),
        realizationSha256: z.string().optional(),
        model: z.string().optional(),
      }),
    }),
  ),
});

function readProvenance(engine: RunDocuments['engine']): z.infer<typeof Provenance> | undefined {
  const text = engine.files.find((file) => file.path === 'provenance.yaml')?.text;
  if (text === undefined) return undefined;
  try {
    return Provenance.safeParse(parse(text, { maxAliasCount: 0 })).data;
  } catch {
    return undefined;
  }
}

/** The files that a model wrote, by name. */
export function filesByModel(engine: RunDocuments['engine'] | undefined): readonly string[] {
  const files = engine === undefined ? [] : (readProvenance(engine)?.files ?? []);
  return files.filter(({ origin }) => origin.kind === 'agent').map(({ path }) => path);
}

/** Where the files of an engine come from: how many of each kind, then each realization by content hash. */
export function renderProvenance(engine: RunDocuments['engine']): string {
  const provenance = readProvenance(engine);
  if (provenance === undefined) return '';
  const { files } = provenance;
  const of = (kind: string) => files.filter((file) => file.origin.kind === kind);
  const realizations = of('realization');
  const written = of('agent');
  const counts = [
    `${count(realizations.length, 'source')} from realizations in knowledge`,
    `${count(of('contract').length, 'header')} from contracts`,
    `${count(of('composer').length, 'file')} by the composer`,
    written.length === 0 ? 'none written by a model' : `**${written.length} written by a model**`,
  ].join(', ');
  const rows = realizations.map(({ path, origin }) => [
    codeSpan(path, 'cell', 60),
    codeSpan(`${origin.contract}@${origin.version}`, 'cell', 80),
    codeSpan(origin.realization?.split('/').at(-1) ?? '–', 'cell', 60),
    codeSpan(origin.realizationSha256?.slice(0, 12) ?? '–', 'cell'),
  ]);
  return paragraphs(
    `${counts}.`,
    written.length > 0 && renderWritten(written),
    rows.length > 0 && table(['File', 'Contract', 'Realization', 'SHA-256'], rows),
  );
}

type ProvenanceFile = z.infer<typeof Provenance>['files'][number];

/** Which model wrote which file. */
function renderWritten(files: readonly ProvenanceFile[]): string {
  const rows = files.map(({ path, origin }) => [
    codeSpan(path, 'cell', 60),
    codeSpan(`${origin.contract}@${origin.version}`, 'cell', 80),
    codeSpan(origin.model ?? '–', 'cell', 60),
  ]);
  return table(['File', 'Contract', 'Written by'], rows);
}
