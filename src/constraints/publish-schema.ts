import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { constraintsJsonSchema } from './written-constraints.ts';

// Run by hand after a change of the schema: `npx tsx src/constraints/publish-schema.ts`.
writeFileSync(
  fileURLToPath(new URL('../../knowledge/constraints.schema.json', import.meta.url)),
  constraintsJsonSchema(),
);
