import { Constraints, coveredWeightFormats } from '../../model/constraints.ts';
import type { Realization } from '../../model/contract.ts';
import type { Problem } from '../../model/problem.ts';
import { allowedValues, type TargetKey, type TargetValue, targetKeys } from '../../model/target.ts';
import type { LoadedContract } from '../contract-folder.ts';
import { changedRealizations, type KnowledgeChange, type KnowledgeSide } from './knowledge-side.ts';

/** A new or changed realization claims nothing that provably nobody can build or run. */
export function checkClaims(change: KnowledgeChange): Problem[] {
  const { after } = change;
  return changedRealizations(change).flatMap(({ loaded, realization, file }) => {
    const line = appliesLine(realization.text);
    const refuse = (message: string): Problem => ({
      severity: 'error',
      code: 'applies-too-wide',
      file,
      line,
      message,
    });
    return [
      ...targetKeys.flatMap((key) => unknownValues(realization, key, after).map(refuse)),
      ...checkDeviceCode(realization, after).map(refuse),
      ...checkRequirements(realization, after).map(refuse),
      ...hintAtFormats(realization, loaded, after).map(
        (message): Problem => ({ ...refuse(message), severity: 'warning' }),
      ),
    ];
  });
}

function appliesLine(text: string): number {
  return text.split('\n').findIndex((line) => line.startsWith('// applies:')) + 1 || 1;
}

function unknownValues(realization: Realization, key: TargetKey, side: KnowledgeSide): string[] {
  const claimed = allowedValues(realization.applies, key) ?? [];
  const known = knownValues(key, realization, side);
  if (known === undefined) return [];
  return claimed
    .filter((value) => !known.includes(value))
    .map((value) => `claims ${key} = ${value}, which nothing builds; known: ${known.join(', ')}`);
}

/** Values that an engine can be asked for; undefined where the contract's applies_when alone decides. */
export function knownValues(
  key: TargetKey,
  { applies }: Pick<Realization, 'applies'>,
  { platforms, families }: Pick<KnowledgeSide, 'platforms' | 'families'>,
): readonly TargetValue[] | undefined {
  const { numerics, serving } = Constraints.shape;
  const claimedPlatforms = allowedValues(applies, 'hardware.platform');
  const own = platforms.filter(({ id }) => claimedPlatforms?.includes(id) ?? true);
  switch (key) {
    case 'hardware.platform':
      return platforms.map(({ id }) => id);
    case 'hardware.arch':
      return own.flatMap(({ archs }) => Object.keys(archs));
    case 'numerics.weights':
      return [...new Set(own.flatMap(({ id }) => coveredWeightFormats(id)))];
    case 'numerics.kv_cache':
      return numerics.shape.kv_cache.unwrap().options;
    case 'numerics.activations':
      return numerics.shape.activations.unwrap().options;
    case 'serving.interface':
      return serving.shape.interface.unwrap().options;
    case 'serving.kv':
      return serving.shape.kv.unwrap().options;
    case 'model.family':
      return families.map(({ family }) => family);
    case 'model.qkv_bias':
    case 'model.qk_norm':
    case 'model.tied_head':
    case 'model.sliding_window':
      return [false, true];
    default:
      return undefined;
  }
}

/** `.cu` is compiled by a device's compiler, which only the platforms with a GPU have. */
function checkDeviceCode({ file, applies }: Realization, { platforms }: KnowledgeSide): string[] {
  if (!file.endsWith('.cu')) return [];
  const claimed = allowedValues(applies, 'hardware.platform') ?? platforms.map(({ id }) => id);
  const hosts = claimed.filter((id) => platforms.find((known) => known.id === id)?.gpu === undefined);
  return hosts.map((id) => `is device code, and claims the platform ${id}, which has no compiler for it`);
}

/** What it includes beyond its contract may be there on some platforms only. */
function checkRequirements({ applies, requires }: Realization, side: KnowledgeSide): string[] {
  const claimed =
    allowedValues(applies, 'hardware.platform') ?? side.platforms.map(({ id }): TargetValue => id);
  return requires.flatMap((id) => {
    const appliesWhen = side.contracts.get(id)?.contract.frontMatter.applies_when ?? {};
    const there = allowedValues(appliesWhen, 'hardware.platform');
    const beyond = claimed.filter((platform) => there?.includes(platform) === false);
    return beyond.length === 0
      ? []
      : [`claims ${beyond.join(', ')}, but requires ${id}, which is there on ${there?.join(', ')} only`];
  });
}

/** Several number formats by name, and code that never mentions one of them nor asks which it is. */
function hintAtFormats(
  { applies, text, requires }: Realization,
  { contract }: LoadedContract,
  { contracts }: KnowledgeSide,
): string[] {
  const claimed = allowedValues(applies, 'numerics.weights') ?? [];
  const parts = [contract, ...requires.flatMap((id) => contracts.get(id)?.contract ?? [])];
  const asks = parts.some(({ frontMatter }) => frontMatter.config.includes('weights_f16'));
  if (claimed.length < 2 || asks) return [];
  const code = text
    .split('\n')
    .filter((line) => !line.startsWith('//'))
    .join('\n');
  return claimed
    .filter((format) => format !== 'f32' && !new RegExp(`${format}`).test(code))
    .map((format) => `claims numerics.weights = ${format}, which its code never mentions`);
}
