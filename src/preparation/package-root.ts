import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json and knowledge/, whether this file runs from src or from dist. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

/** The contract's reference as a module of this build: .ts in the sources, .js in dist. */
export function referencePath(contractFolder: string): string {
  const isBuilt = fileURLToPath(import.meta.url).endsWith('.js');
  const base = isBuilt ? join(packageRoot(), 'dist') : packageRoot();
  return join(base, 'knowledge/contracts', contractFolder, `reference.${isBuilt ? 'js' : 'ts'}`);
}

export function programVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}
