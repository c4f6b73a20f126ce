import { readFile } from 'node:fs/promises';
import { AppError } from '../../model/errors.ts';
import { LlmSettings } from '../../model/llm-settings.ts';
import { looksLikePath, showSetting } from '../../model/show-setting.ts';
import { listModels, showModels } from './list-models.ts';
import { readLlmSettings } from './read-llm-settings.ts';
import { addressFault, modelFault } from './settings-rules.ts';

export interface LlmSource {
  /** Base URL of an endpoint, or path of a YAML file with settings. */
  readonly llm: string;
  /** Takes the place of the model in the file, for all roles. */
  readonly model: string | undefined;
  /** Value of an environment variable. */
  readonly keyOf: (name: string) => string | undefined;
}

export interface OpenedLlm {
  readonly settings: LlmSettings;
  /** Undefined where the variable is not set: local servers want no key. */
  readonly apiKey: string | undefined;
}

/**
 * Settings and key of a language model. With an address alone the only model that the endpoint serves is taken, where
 * there is one.
 * @throws AppError SETTINGS_INVALID or USAGE, saying what is wrong where
 */
export async function openLlmSettings({ llm, model, keyOf }: LlmSource): Promise<OpenedLlm> {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(llm)) {
    const settings = readLlmSettings(await readSettingsFile(llm), llm);
    const named = model === undefined ? settings : withModel(settings, checkedModel(model));
    return { settings: named, apiKey: keyFrom(keyOf, named.api_key_env) };
  }
  const fault = addressFault(llm);
  if (fault !== undefined)
    throw new AppError('SETTINGS_INVALID', `The address of the language model ${fault}`);
  const baseUrl = llm.replace(/\/+$/, '');
  const keyVariable = keyVariableOf(baseUrl, keyOf);
  const apiKey = keyFrom(keyOf, keyVariable);
  const name = model === undefined ? await findOnlyModel(baseUrl, apiKey) : checkedModel(model);
  return {
    settings: LlmSettings.parse({ base_url: baseUrl, model: name, api_key_env: keyVariable }),
    apiKey,
  };
}

/** OpenAI's own key goes to OpenAI only. */
function keyVariableOf(baseUrl: string, keyOf: LlmSource['keyOf']): string {
  const isOpenAI = new URL(baseUrl).hostname === 'api.openai.com';
  const hasOwn = keyFrom(keyOf, 'METAINFER_LLM_API_KEY') !== undefined;
  return isOpenAI && !hasOwn ? 'OPENAI_API_KEY' : 'METAINFER_LLM_API_KEY';
}

/** @throws AppError SETTINGS_INVALID for a key that no header can carry */
function keyFrom(keyOf: LlmSource['keyOf'], variable: string): string | undefined {
  const key = keyOf(variable)?.trim();
  if (key === undefined || key === '') return undefined;
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new AppError(
    'SETTINGS_INVALID',
    `${variable} holds blanks, line breaks or characters beyond ASCII, which no key has; set it to the key alone.`,
  );
}

async function readSettingsFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    const shown = looksLikePath(path) ? path : showSetting(path);
    throw new AppError(
      'SETTINGS_INVALID',
      `The settings of the language model cannot be read from ${shown} (${reason}). Name the base URL of an endpoint, such as http://localhost:11434/v1, or a YAML file with base_url and model.`,
      { cause },
    );
  }
}

/** @throws AppError USAGE */
function checkedModel(name: string): string {
  const fault = modelFault(name);
  if (fault === undefined) return name;
  throw new AppError('USAGE', `The model (--model or METAINFER_LLM_MODEL) ${fault}`);
}

function withModel(settings: LlmSettings, model: string): LlmSettings {
  const roles = Object.entries(settings.roles).map(([role, { model: _, ...own }]) => [role, own]);
  return { ...settings, model, roles: Object.fromEntries(roles) };
}

async function findOnlyModel(baseUrl: string, apiKey: string | undefined): Promise<string> {
  const listing = await listModels(baseUrl, apiKey, 10);
  if (listing.isRead && listing.models.length === 1 && listing.unusable === 0) return listing.models[0]!;
  const known = listing.isRead
    ? ` The endpoint has ${showModels(listing)}.`
    : ` The endpoint did not list its models: ${listing.message}`;
  throw new AppError('USAGE', `No model is named: add --model NAME, or set METAINFER_LLM_MODEL.${known}`);
}
