import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runGit } from './git.ts';

/** Variables that a push hands to the hooks below. */
export const pushFileVariable = 'METAINFER_PUSH_FILE';
export const refuseWorkflowsVariable = 'METAINFER_REFUSE_WORKFLOWS';

const settings: Readonly<Record<string, string>> = {
  'http.receivepack': 'true',
  // As on GitHub, a commit can be fetched by its SHA.
  'uploadpack.allowAnySHA1InWant': 'true',
  'uploadpack.allowFilter': 'true',
  // Objects made through the API have no ref yet; nothing may sweep them away.
  'gc.auto': '0',
  'receive.autogc': 'false',
};

/** What a push changed, for the server to announce. */
const postReceive = `#!/bin/sh
exec cat > "$${pushFileVariable}"
`;

/** GitHub keeps apps without the workflows permission from changing workflow files. */
const preReceive = `#!/bin/sh
[ -n "$${refuseWorkflowsVariable}" ] || exit 0
while read -r old new ref; do
  case "$new" in *[!0]*) ;; *) continue ;; esac
  case "$old" in *[!0]*) base=$old ;; *) base=$(git merge-base HEAD "$new") ;; esac
  git diff --quiet "$base" "$new" -- .github/workflows && continue
  echo "refusing to allow a GitHub App to create or update workflow without \\\`workflows\\\` permission" >&2
  exit 1
done
`;

/** Makes an empty bare repository with the settings and hooks of the stand-in. */
export async function createBareRepository(folder: string, defaultBranch: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await runGit(folder, ['init', '--bare', '--quiet', `--initial-branch=${defaultBranch}`, '.']);
  const lines = Object.entries(settings).map(([name, value]) => {
    const dot = name.indexOf('.');
    return `[${name.slice(0, dot)}]\n\t${name.slice(dot + 1)} = ${value}\n`;
  });
  await writeFile(join(folder, 'config'), `[core]\n\tbare = true\n${lines.join('')}`);
  for (const [name, text] of Object.entries({ 'pre-receive': preReceive, 'post-receive': postReceive })) {
    await writeFile(join(folder, 'hooks', name), text);
    await chmod(join(folder, 'hooks', name), 0o755);
  }
}
