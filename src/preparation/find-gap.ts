import type { ParsedConstraints } from '../constraints/parse-constraints.ts';
import { normaliseText } from '../constraints/source-text.ts';
import { readYamlTree } from '../constraints/yaml-tree.ts';
import { explainConfigGap } from '../knowledge/views/explain-config-gap.ts';
import { explainGap } from '../knowledge/views/explain-gap.ts';
import type { Catalog } from '../model/catalog.ts';
import { describeGap, type KnowledgeGap } from '../model/knowledge-gap.ts';
import type { TokenizerFacts } from '../model/model-facts.ts';
import { toTarget } from '../model/target.ts';

const noTokenizer: TokenizerFacts = { model: 'none', preTokenizer: 'none', normalizer: 'none' };

/**
 * What knowledge lacks for a file that was read but is not covered: a format, a platform, a model that no family
 * reads. Lines for a list; none where the file has nothing but mistakes, or is covered.
 */
export function tellGap(text: string, parsed: ParsedConstraints, catalog: Catalog): readonly string[] {
  const gap = findGap(text, parsed, catalog);
  return gap === undefined ? [] : describeGap(gap);
}

function findGap(text: string, parsed: ParsedConstraints, catalog: Catalog): KnowledgeGap | undefined {
  const { constraints, facts, notCovered, problems } = parsed;
  if (constraints !== undefined && facts !== undefined && notCovered.length > 0) {
    const { model } = constraints;
    const known = 'id' in model ? catalog.models.find(({ id }) => id === model.id) : undefined;
    return explainGap(catalog, toTarget(constraints, facts, known?.tokenizer ?? noTokenizer));
  }
  const isModel = problems.some(({ path }) => path?.startsWith('model.config') === true);
  const config = isModel ? writtenConfig(text) : undefined;
  return config === undefined ? undefined : explainConfigGap(catalog, config);
}

/** `model.config` as it stands in the file. */
function writtenConfig(text: string): Readonly<Record<string, unknown>> | undefined {
  const file = asRecord(readYamlTree(normaliseText(text).text).value);
  return asRecord(asRecord(file?.model)?.config);
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}
