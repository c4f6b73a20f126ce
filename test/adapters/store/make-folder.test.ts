import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { describeFolderFault, makeFolder } from '../../../src/adapters/store/make-folder.ts';
import { openEmbedded } from '../../../src/adapters/store/open-embedded.ts';

const folder = mkdtempSync(join(tmpdir(), 'metainfer-folder-'));
const file = join(folder, 'file');
writeFileSync(file, '');
afterAll(() => rmSync(folder, { recursive: true }));

describe('a folder', () => {
  it('is made with those above it, also by two at the same moment', async () => {
    const deep = join(folder, 'a/b/c');
    await Promise.all([makeFolder(deep, 0o700), makeFolder(deep, 0o700)]);
    await makeFolder(deep, 0o700);
    expect(statSync(deep).mode & 0o777).toBe(0o700);
  });

  it.each([
    [file, 'it is a file, or lies below one'],
    [join(file, 'below'), 'it is a file, or lies below one'],
    [join(file, 'a/b'), 'it is a file, or lies below one'],
    [join(folder, 'x'.repeat(300)), 'its name is too long'],
  ])('%s cannot be made, and why is said', async (path, reason) => {
    const error = await makeFolder(path).catch((fault: unknown) => fault);
    expect(describeFolderFault(error)).toBe(reason);
  });

  it.skipIf(process.platform !== 'linux')(
    'below /proc cannot be made, which is found out at once',
    async () => {
      for (const path of ['/proc/metainfer', '/proc/metainfer/a/b']) {
        const error = await makeFolder(path).catch((fault: unknown) => fault);
        expect(describeFolderFault(error)).toBe('no folder can be made there');
      }
    },
  );
});

describe('the data folder of an embedded database', () => {
  it.each([file, join(file, 'below'), '/proc/metainfer'])(
    '%s is refused before PGlite gets it',
    async (path) => {
      const opening = openEmbedded(path, folder, pino({ level: 'silent' }));
      await expect(opening).rejects.toMatchObject({
        code: 'DATABASE_UNAVAILABLE',
        message: expect.stringMatching(
          /^The data folder .* cannot be used: [\s\S]*Set METAINFER_DATA to a folder/,
        ),
      });
    },
  );
});
