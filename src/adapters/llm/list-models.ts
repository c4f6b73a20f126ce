import { createEndpointClient } from './endpoint-client.ts';
import { classifyFault } from './endpoint-faults.ts';
import { redactorOf } from './redact.ts';

export type ModelListing =
  | { readonly isRead: true; readonly models: readonly string[] }
  | { readonly isRead: false; readonly message: string };

/** Names of the models that an endpoint serves. Some endpoints don't tell. */
export async function listModels(
  baseUrl: string,
  apiKey: string | undefined,
  timeoutSeconds: number,
): Promise<ModelListing> {
  const client = createEndpointClient(baseUrl, apiKey, timeoutSeconds);
  try {
    const signal = AbortSignal.timeout(timeoutSeconds * 1000);
    const page: unknown = await client.models.list({ signal });
    const data = (page as { data?: unknown }).data;
    if (!Array.isArray(data)) return { isRead: false, message: 'what came back is no list of models.' };
    return {
      isRead: true,
      models: data.map((entry) => String(entry?.id ?? '')).filter((name) => name !== ''),
    };
  } catch (error) {
    const context = {
      baseUrl,
      model: '',
      keyVariable: 'METAINFER_LLM_API_KEY',
      hasKey: apiKey !== undefined,
    };
    const redact = redactorOf([apiKey]);
    const { message } = classifyFault(error, { ...context, hasAnswered: false, redact, now: Date.now });
    return { isRead: false, message };
  }
}
