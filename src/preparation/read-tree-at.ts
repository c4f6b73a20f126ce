import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { isTreeFile, readTree, sha256Of, type Tree, type TreeFile } from '../knowledge/read-tree.ts';
import { AppError } from '../model/errors.ts';

const run = promisify(execFile);
const mostBytes = 512 * 1024 * 1024;

/**
 * Knowledge as it stands in another folder, or stood at a commit of the repository that `root` lies in.
 * @throws AppError USAGE where it is neither, or holds no contracts
 */
export async function readTreeAt(root: string, where: string): Promise<Tree> {
  const isFolder = await stat(where).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const tree = isFolder ? await readTree(where) : await readCommit(root, where);
  if ([...tree.keys()].some((path) => path.startsWith('contracts/'))) return tree;
  throw new AppError('USAGE', `${where} holds no contracts/ of the folder ${root}.`);
}

async function readCommit(root: string, ref: string): Promise<Tree> {
  const commit = await git(root, [
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${ref}^{commit}`,
  ]).catch(() => {
    throw new AppError(
      'USAGE',
      `${ref} is neither a folder nor a commit of the repository of ${root}: give a branch, a tag, a hash or a folder.`,
    );
  });
  const prefix = (await git(root, ['rev-parse', '--show-prefix'])).trim();
  const listing = await git(root, ['ls-tree', '-r', '-z', '--full-tree', commit.trim(), '--', prefix || '.']);
  const entries = listing.split('\0').flatMap((line) => {
    const match = /^100\d+ blob ([0-9a-f]+)\t(.*)$/s.exec(line);
    const path = match?.[2]?.slice(prefix.length);
    return match === null || path === undefined || !isTreeFile(path) ? [] : [{ id: match[1]!, path }];
  });
  const contents = await readBlobs(
    root,
    entries.map(({ id }) => id),
  );
  // ls-tree lists by bytes of the whole path, which is the order of a tree.
  const files = entries.map(({ path }, index): TreeFile => {
    const bytes = contents[index]!;
    return { path, text: bytes.toString('utf8'), sha256: sha256Of(bytes) };
  });
  return new Map(files.map((file) => [file.path, file]));
}

async function git(root: string, args: readonly string[]): Promise<string> {
  return (await run('git', ['-C', root, ...args], { maxBuffer: mostBytes })).stdout;
}

/** All of them by one process: `<id> blob <size>`, the bytes, a line end, and the next. */
async function readBlobs(root: string, ids: readonly string[]): Promise<Buffer[]> {
  const output = await new Promise<Buffer>((resolve, reject) => {
    const options = { maxBuffer: mostBytes, encoding: 'buffer' as const };
    const child = execFile('git', ['-C', root, 'cat-file', '--batch'], options, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
    child.stdin?.end(ids.map((id) => `${id}\n`).join(''));
  });
  let at = 0;
  return ids.map(() => {
    const end = output.indexOf('\n', at);
    const size = Number(output.subarray(at, end).toString().split(' ')[2]);
    const bytes = output.subarray(end + 1, end + 1 + size);
    at = end + 1 + size + 1;
    return bytes;
  });
}
