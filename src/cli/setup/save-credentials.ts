import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CreatedApp } from '../../adapters/github/create-from-manifest.ts';
import { AppError } from '../../model/errors.ts';

/**
 * Writes the key and adds the settings to `.env`, both readable by their owner only. GitHub shows them once, so nothing
 * that is there is overwritten: where .env names an app already, the new settings go into a file beside it.
 */
export async function saveCredentials(
  folder: string,
  app: CreatedApp,
  publicUrl: string,
): Promise<{ readonly environmentFile: string; readonly keyFile: string }> {
  await mkdir(folder, { recursive: true });
  const keyFile = join(folder, `${app.slug}.private-key.pem`);
  await writeNew(keyFile, app.privateKey);
  const lines = [
    `APP_ID=${app.appId}`,
    `PRIVATE_KEY_PATH=${keyFile}`,
    `WEBHOOK_SECRET=${app.webhookSecret}`,
    `METAINFER_PUBLIC_URL=${publicUrl}`,
    '',
  ].join('\n');
  const main = join(folder, '.env');
  const present = await readFile(main, 'utf8').catch(() => undefined);
  if (present === undefined) {
    await writeNew(main, lines);
    return { environmentFile: main, keyFile };
  }
  if (/^\s*(?:export\s+)?(?:APP_ID|PRIVATE_KEY|PRIVATE_KEY_PATH|WEBHOOK_SECRET)=/m.test(present)) {
    const beside = join(folder, `.env.${app.slug}`);
    await writeNew(beside, lines);
    return { environmentFile: beside, keyFile };
  }
  await writeFile(main, `${present.replace(/\n?$/, '\n')}${lines}`, { mode: 0o600 });
  return { environmentFile: main, keyFile };
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    const file = await open(path, 'wx', 0o600);
    await file.writeFile(text);
    await file.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new AppError(
      'OUTPUT_EXISTS',
      `${path} exists and is not overwritten. The app was made; its key can be made anew on its page at GitHub.`,
    );
  }
}
