import { createEndpointClient } from './endpoint-client.ts';
import { classifyFault } from './endpoint-faults.ts';
import { recordOf } from './read-usage.ts';
import { redactorOf } from './redact.ts';
import { modelFault } from './settings-rules.ts';

export type ModelListing =
  /** `unusable` counts those whose names no request or message can carry. */
  | { readonly isRead: true; readonly models: readonly string[]; readonly unusable: number }
  | { readonly isRead: false; readonly message: string };

/** The first few, for a message. */
export function showModels({ models, unusable }: Extract<ModelListing, { isRead: true }>): string {
  const some = models.slice(0, 8).join(', ');
  const rest = models.length > 8 ? `, … (${models.length})` : '';
  const others =
    unusable === 0 ? '' : `${unusable} whose ${unusable === 1 ? 'name' : 'names'} cannot be used`;
  return [`${some}${rest}`, others].filter((part) => part !== '').join(' and ') || 'none';
}

/** Names of the models that an endpoint serves. Some endpoints don't tell. */
export async function listModels(
  baseUrl: string,
  apiKey: string | undefined,
  timeoutSeconds: number,
): Promise<ModelListing> {
  const client = createEndpointClient(baseUrl, apiKey, timeoutSeconds);
  const redact = redactorOf([apiKey]);
  try {
    const signal = AbortSignal.timeout(timeoutSeconds * 1000);
    const page: unknown = await client.models.list({ signal });
    const data = (page as { data?: unknown }).data;
    if (!Array.isArray(data)) return { isRead: false, message: 'what came back is no list of models.' };
    const names = data.map((entry) => recordOf(entry).id ?? '').filter((name) => name !== '');
    const models = names.filter(
      (name): name is string =>
        typeof name === 'string' && modelFault(name) === undefined && redact(name) === name,
    );
    return { isRead: true, models, unusable: names.length - models.length };
  } catch (error) {
    const context = {
      baseUrl,
      model: '',
      keyVariable: 'METAINFER_LLM_API_KEY',
      hasKey: apiKey !== undefined,
    };
    const { message } = classifyFault(error, { ...context, hasAnswered: false, redact, now: Date.now });
    return { isRead: false, message };
  }
}
