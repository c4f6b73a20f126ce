import { z } from 'zod';
import type { FamilyFacts, KnownModel } from '../model/catalog.ts';
import { readModelConfig } from '../model/model-config.ts';
import { modelFamilies } from '../model/model-facts.ts';
import type { Problem } from '../model/problem.ts';
import { readYamlFile } from './contract-folder.ts';
import type { Tree } from './read-tree.ts';

const configJson = z.record(z.string(), z.unknown());

const ModelFile = z.strictObject({
  family: z.enum(modelFamilies),
  architectures: z.array(z.string()).min(1),
  summary: z.string().min(10),
  features: z.record(
    z.string(),
    z.strictObject({ value: z.union([z.string(), z.number(), z.boolean()]), source: z.string().min(5) }),
  ),
  config_keys: z.record(z.string(), z.string().min(3)),
  tensors: z
    .array(
      z.strictObject({
        name: z.string().min(3),
        shape: z.array(z.string()).min(1).max(2),
        when: z.string().optional(),
      }),
    )
    .min(1),
  sources: z.array(z.string()).min(1),
  models: z.array(
    z.strictObject({
      id: z.string().regex(/^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/),
      source: z.string().min(5),
      /** Dotted keys of this entry that come from recollection. */
      unverified: z.array(z.string()).default([]),
      config: configJson,
      generation_config: configJson,
      tokenizer: z.strictObject({
        model: z.enum(['byte_level_bpe', 'sentencepiece_bpe', 'none']),
        pre_tokenizer: z.enum(['gpt2', 'smollm2', 'qwen2', 'llama3', 'none']),
        normalizer: z.enum(['nfc', 'none']),
        source: z.string().min(5),
      }),
    }),
  ),
});
type ModelFile = z.infer<typeof ModelFile>;

interface PlacedModel {
  readonly model: KnownModel;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** knowledge/models/<family>.yaml: what the family shares and its published models. */
export function loadModels(tree: Tree): {
  readonly families: readonly FamilyFacts[];
  readonly models: readonly KnownModel[];
  readonly problems: readonly Problem[];
} {
  const families: FamilyFacts[] = [];
  const placed: PlacedModel[] = [];
  const problems: Problem[] = [];
  for (const file of tree.values()) {
    if (!file.path.startsWith('models/')) continue;
    const read = readYamlFile(file, ModelFile);
    problems.push(...read.problems);
    if (read.value === undefined || read.yaml === undefined) continue;
    const { yaml, value } = read;
    if (file.path !== `models/${value.family}.yaml`) {
      problems.push({
        severity: 'error',
        code: 'id-not-file',
        file: file.path,
        ...yaml.locate(['family']),
        path: 'family',
        message: `expected the file name ${value.family}.yaml`,
      });
    }
    families.push(toFamily(value));
    value.models.forEach((entry, index) => {
      const report = (path: (string | number)[], code: string, message: string) =>
        problems.push({
          severity: 'error',
          code,
          file: file.path,
          ...yaml.locate(['models', index, ...path]),
          path: ['models', index, ...path].join('.'),
          message,
        });
      checkModel(value, entry, report);
      placed.push({
        model: toKnownModel(value, entry),
        file: file.path,
        ...yaml.locate(['models', index, 'id']),
      });
    });
  }
  problems.push(...checkRepeats(placed));
  return { families, models: placed.map((entry) => entry.model), problems };
}

function toFamily(file: ModelFile): FamilyFacts {
  const { family, architectures, summary, features, tensors, sources } = file;
  return { family, architectures, summary, features, configKeys: file.config_keys, tensors, sources };
}

function toKnownModel(file: ModelFile, entry: ModelFile['models'][number]): KnownModel {
  const { model, pre_tokenizer: preTokenizer, normalizer } = entry.tokenizer;
  return {
    id: entry.id,
    family: file.family,
    config: entry.config,
    generationConfig: entry.generation_config,
    tokenizer: { model, preTokenizer, normalizer },
    source: entry.source,
    unverified: entry.unverified,
  };
}

function checkModel(
  file: ModelFile,
  entry: ModelFile['models'][number],
  report: (path: (string | number)[], code: string, message: string) => void,
): void {
  if (entry.config.model_type !== file.family) {
    report(
      ['config', 'model_type'],
      'contradicting-fact',
      `expected ${file.family}, the family of this file, found ${String(entry.config.model_type)}`,
    );
  }
  for (const key of Object.keys(entry.config)) {
    if (!Object.hasOwn(file.config_keys, key))
      report(['config', key], 'unexplained-key', `config_keys of this file does not say what ${key} means`);
  }
  checkAgainstReader(file, entry, report);
  for (const dotted of entry.unverified) {
    const [part = '', key = ''] = dotted.split('.');
    const owner = (entry as Record<string, unknown>)[part];
    const exists = typeof owner === 'object' && owner !== null && (key === '' || Object.hasOwn(owner, key));
    if (!exists) report(['unverified'], 'dangling-fact', `${dotted} is not a fact of this entry`);
  }
}

/** The entry must be a config.json that we read ourselves, and its facts those that the file states for the family. */
function checkAgainstReader(
  file: ModelFile,
  entry: ModelFile['models'][number],
  report: (path: (string | number)[], code: string, message: string) => void,
): void {
  const { facts, problems } = readModelConfig(entry.config, entry.generation_config);
  for (const problem of problems) {
    if (problem.severity === 'error') report(['config', problem.path ?? ''], problem.code, problem.message);
  }
  const derived = { qkv_bias: facts?.qkvBias, qk_norm: facts?.qkNorm };
  for (const [name, value] of Object.entries(derived)) {
    const stated = file.features[name]?.value;
    if (value !== undefined && stated !== undefined && stated !== value) {
      report(
        ['config'],
        'contradicting-fact',
        `features.${name} is ${stated}, but this config.json means ${value}`,
      );
    }
  }
}

/** The same id twice is one fact too many; with different values it is a contradiction, and the keys are named. */
function checkRepeats(placed: readonly PlacedModel[]): Problem[] {
  const first = new Map<string, PlacedModel>();
  const problems: Problem[] = [];
  for (const entry of placed) {
    const earlier = first.get(entry.model.id);
    first.set(entry.model.id, earlier ?? entry);
    if (earlier === undefined) continue;
    const place = { file: entry.file, line: entry.line, column: entry.column };
    const differing = differingFacts(earlier.model, entry.model);
    const where = `${earlier.file}:${earlier.line}`;
    const message =
      differing.length === 0
        ? `${entry.model.id} already stands at ${where}`
        : `${entry.model.id} stands at ${where} with other values: ${differing.join('; ')}`;
    problems.push({
      severity: 'error',
      code: differing.length === 0 ? 'duplicate-id' : 'contradicting-fact',
      ...place,
      message,
    });
  }
  return problems;
}

function differingFacts(a: KnownModel, b: KnownModel): string[] {
  const flat = (model: KnownModel): Record<string, unknown> => ({
    ...prefixed('config', model.config),
    ...prefixed('generation_config', model.generationConfig),
    ...prefixed('tokenizer', { ...model.tokenizer }),
  });
  const left = flat(a);
  const right = flat(b);
  return [...new Set([...Object.keys(left), ...Object.keys(right)])]
    .filter((key) => JSON.stringify(left[key]) !== JSON.stringify(right[key]))
    .map(
      (key) =>
        `${key} ${JSON.stringify(left[key]) ?? 'absent'} and ${JSON.stringify(right[key]) ?? 'absent'}`,
    );
}

function prefixed(prefix: string, record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [`${prefix}.${key}`, value]));
}
