import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileLedger } from '../../../src/adapters/llm/file-ledger.ts';
import { openLanguageModel } from '../../../src/adapters/llm/open-language-model.ts';
import type { LanguageModel } from '../../../src/model/language-model.ts';
import { LlmSettings } from '../../../src/model/llm-settings.ts';
import type { SpendingLimits } from '../../../src/model/spending.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/model-server.ts';
import type { ModelServerOptions } from '../../support/model-server/server-options.ts';

export interface ScriptedModel {
  readonly model: LanguageModel;
  readonly server: ModelServer;
  close(): Promise<void>;
}

const ample: SpendingLimits = { softTokens: 5e6, hardTokens: 5e6, softUsd: null, hardUsd: null };

/** The real adapter, over HTTP to a server that answers by script. */
export async function openScriptedModel(
  options: ModelServerOptions,
  settings: Partial<LlmSettings> = {},
  limits: SpendingLimits = ample,
): Promise<ScriptedModel> {
  const folder = mkdtempSync(join(tmpdir(), 'metainfer-scripted-'));
  const server = await startModelServer(options);
  const model = openLanguageModel(
    LlmSettings.parse({ base_url: server.baseUrl, model: server.model, ...settings }),
    { apiKey: undefined, ledger: await createFileLedger(folder), limits },
  );
  return {
    model,
    server,
    close: async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
