import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { constraintsJsonSchema } from '../../src/constraints/written-constraints.ts';
import { read } from './read-case.ts';

const knowledge = join(import.meta.dirname, '../../knowledge');

it('knowledge/constraints.schema.json is what `npx tsx src/constraints/publish-schema.ts` writes', () => {
  expect(readFileSync(join(knowledge, 'constraints.schema.json'), 'utf8')).toBe(constraintsJsonSchema());
});

it('describes every field for editors', () => {
  const bare: string[] = [];
  const visit = (schema: { properties?: Record<string, object> }, path: string): void => {
    for (const [key, child] of Object.entries(schema.properties ?? {})) {
      if (!('description' in child) && !('properties' in child) && !('const' in child))
        bare.push(`${path}${key}`);
      visit(child, `${path}${key}.`);
    }
  };
  visit(JSON.parse(constraintsJsonSchema()), '');
  expect(bare).toEqual([]);
});

const examples = readdirSync(join(knowledge, 'examples'));

it.each(examples)('knowledge/examples/%s is accepted without a word and covered', (file) => {
  const { constraints, problems, notCovered } = read(readFileSync(join(knowledge, 'examples', file), 'utf8'));
  expect(problems).toEqual([]);
  expect(notCovered).toEqual([]);
  expect(constraints).toBeDefined();
});
