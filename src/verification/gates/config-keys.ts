import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ignoredKeys } from '../../model/model-config-keys.ts';
import type { Finding } from '../../model/report.ts';
import { EngineFailure } from '../engine-channel.ts';
import { type GateContext, makeFinding } from '../gate-context.ts';
import { binaryFor } from '../gate-place.ts';

type Json = Readonly<Record<string, unknown>>;

/** Another value of the same JSON type; undefined where there is none to try. */
function changeValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value + 1 : value * 1.5;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string') return `${value}x`;
  return undefined;
}

/** Every value that changes numbers, changed alone, under its dotted path. */
export function changedConfigs(
  config: Json,
  prefix = '',
): { readonly path: string; readonly config: Json }[] {
  return Object.entries(config).flatMap(([key, value]) => {
    if (prefix === '' && ignoredKeys.has(key)) return [];
    const path = `${prefix}${key}`;
    const withValue = (changed: unknown) => ({ path, config: { ...config, [key]: changed } });
    if (Array.isArray(value)) {
      const items = value as readonly unknown[];
      return [...items.keys()]
        .filter((index) => index === 0 || index === items.length - 1)
        .filter((index) => changeValue(items[index]) !== undefined)
        .map((index) => withValue(items.map((item, at) => (at === index ? changeValue(item) : item))));
    }
    if (typeof value === 'object' && value !== null) {
      const inner = changedConfigs(value as Json, `${path}.`);
      return inner.map((entry) => ({ path: entry.path, config: { ...config, [key]: entry.config } }));
    }
    const changed = changeValue(value);
    return changed === undefined ? [] : [withValue(changed)];
  });
}

/** The engine must refuse each by the key's name. No weights are copied: config.json is judged first. */
export async function checkConfigKeys(context: GateContext): Promise<{ findings: Finding[]; keys: number }> {
  if (binaryFor(context) === undefined) return { findings: [], keys: 0 };
  const config = JSON.parse(readFileSync(join(context.checkpointFolder, 'config.json'), 'utf8')) as Json;
  const variants = [
    ...changedConfigs(config),
    { path: 'not_a_known_key', config: { ...config, not_a_known_key: 1 } },
  ];
  const folder = join(context.scratchFolder, 'config-keys');
  const findings: Finding[] = [];
  for (const { path, config: changed } of variants) {
    mkdirSync(folder, { recursive: true });
    for (const file of ['generation_config.json', 'tokenizer.json']) {
      if (existsSync(join(context.checkpointFolder, file)))
        copyFileSync(join(context.checkpointFolder, file), join(folder, file));
    }
    writeFileSync(join(folder, 'config.json'), JSON.stringify(changed));
    const said = await refusalOf(context, folder);
    if (said === undefined || !said.includes(path.split('.').at(-1)!)) {
      const message = `a config.json with another ${path} is ${said === undefined ? 'accepted' : 'refused without naming it'}`;
      const evidence = { key: path, wanted: `a refusal that names ${path}`, got: said ?? 'accepted' };
      findings.push(makeFinding('ledger', 'checkpoint.config', message, evidence));
    }
    rmSync(folder, { recursive: true, force: true });
  }
  return { findings, keys: variants.length };
}

async function refusalOf(context: GateContext, folder: string): Promise<string | undefined> {
  try {
    await (await context.openEngine({ folder })).quit();
    return undefined;
  } catch (error) {
    if (error instanceof EngineFailure) return error.message;
    throw error;
  }
}
