import { createHash, randomUUID } from 'node:crypto';
import { access, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import type { Repository } from './world.ts';

/** Stores a loose git object and gives its SHA. Written here because a git process for each would cost far more. */
export async function writeObject(
  repository: Repository,
  type: 'blob' | 'commit',
  content: Buffer,
): Promise<string> {
  const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  const sha = createHash('sha1').update(whole).digest('hex');
  const folder = join(repository.folder, 'objects', sha.slice(0, 2));
  const file = join(folder, sha.slice(2));
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (exists) return sha;
  await mkdir(folder, { recursive: true });
  const partial = join(folder, `tmp_obj_${randomUUID()}`);
  await writeFile(partial, deflateSync(whole), { mode: 0o444 });
  await rename(partial, file);
  return sha;
}
