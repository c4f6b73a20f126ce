import { formatSignature, signatureOf } from './commit-author.ts';
import type { Repository, World } from './world.ts';

/** The first commit of a repository, on its default branch. */
export async function writeInitialCommit(
  world: World,
  repository: Repository,
  files: Readonly<Record<string, string | Buffer>>,
): Promise<void> {
  const head = repository.defaultBranch;
  const author = formatSignature(signatureOf(repository.owner, world.now()));
  const parts: (string | Buffer)[] = [
    `commit refs/heads/${head}\ncommitter ${author}\n${data('Initial commit\n')}\n`,
  ];
  for (const [path, content] of Object.entries(files)) {
    const bytes = Buffer.from(content);
    parts.push(`M 100644 inline ${JSON.stringify(path)}\ndata ${bytes.length}\n`, bytes, '\n');
  }
  const stream = Buffer.concat(parts.map((part) => Buffer.from(part)));
  await world.git(repository, ['fast-import', '--quiet'], stream);
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}`;
}
