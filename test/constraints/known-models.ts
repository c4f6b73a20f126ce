import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { KnownModel } from '../../src/model/catalog.ts';

const folder = join(import.meta.dirname, '../../knowledge/models');

/** The models of knowledge/models, read without the loader: what these tests need is their config.json. */
export const knownModels: readonly KnownModel[] = readdirSync(folder).flatMap((file) => {
  const written = parse(readFileSync(join(folder, file), 'utf8')) as {
    models: Partial<KnownModel>[];
    generation_config?: object;
  };
  return written.models.map(
    (model) =>
      ({
        ...model,
        generationConfig: (model as { generation_config?: object }).generation_config ?? {},
      }) as KnownModel,
  );
});
