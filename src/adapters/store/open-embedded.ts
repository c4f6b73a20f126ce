import { existsSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { PGlite } from '@electric-sql/pglite';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import pg from 'pg';
import type { Logger } from 'pino';
import { AppError } from '../../model/errors.ts';
import { createDatabase, type Database } from './database.ts';
import { lockFolder } from './folder-lock.ts';
import { describeFolderFault, makeFolder } from './make-folder.ts';

// The default of 128 MB is kept in memory whole, for a database of a few.
const startParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=16MB'];
/** Part of the template's name: a data folder belongs to one version of PostgreSQL. */
const templateName = 'pglite-0.5-empty.tar.gz';

/**
 * Opens PostgreSQL in this process on a folder, which is made on first use: from a template in the cache folder where
 * there is one (2 s instead of 10).
 * @throws AppError DATABASE_UNAVAILABLE when the folder cannot be written, another process has it, or its data does not
 * open
 */
export async function openEmbedded(folder: string, cacheFolder: string, log: Logger): Promise<Database> {
  await assertWritable(folder);
  const unlock = await lockFolder(folder);
  try {
    const lite = await openFolder(folder, join(cacheFolder, templateName), log);
    const pool = new pg.Pool({ ...(createPgConfig(lite) as pg.PoolConfig), max: 1, idleTimeoutMillis: 0 });
    const database = createDatabase(pool, true, log);
    return {
      ...database,
      close: async () => {
        await database.close();
        await lite.close();
        await unlock();
      },
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

/** Before PGlite gets it, which works for minutes on a folder that takes nothing, and deaf to signals. */
async function assertWritable(folder: string): Promise<void> {
  const probe = join(folder, `.writable-${process.pid}`);
  try {
    await makeFolder(folder, 0o700);
    await writeFile(probe, '');
    await rm(probe);
  } catch (error) {
    throw new AppError(
      'DATABASE_UNAVAILABLE',
      `The data folder ${folder} cannot be used: ${describeFolderFault(error)}.\n` +
        'Set METAINFER_DATA to a folder that this user can make and write, or use PostgreSQL (DATABASE_URL).',
      { cause: error },
    );
  }
}

async function openFolder(folder: string, template: string, log: Logger): Promise<PGlite> {
  const dataDir = join(folder, 'pgdata');
  // Written last: without it, whoever made the data was killed half-way.
  const mark = join(folder, 'is-complete');
  if (existsSync(mark)) return openExisting(dataDir);
  await rm(dataDir, { recursive: true, force: true });
  const lite = (await openFromTemplate(dataDir, template, log)) ?? (await openNew(dataDir, template, log));
  await writeFile(mark, '');
  return lite;
}

async function openExisting(dataDir: string): Promise<PGlite> {
  try {
    return await PGlite.create({ dataDir, startParams });
  } catch (error) {
    throw new AppError(
      'DATABASE_UNAVAILABLE',
      `The database in ${dataDir} does not open: ${error instanceof Error ? error.message : String(error)}.\n` +
        'Put back a copy of the whole data folder, or name another folder to start with an empty one.',
      { cause: error },
    );
  }
}

async function openFromTemplate(dataDir: string, template: string, log: Logger): Promise<PGlite | undefined> {
  if (!existsSync(template)) return undefined;
  try {
    // Unpacked here: PGlite's own unpacking leaves an unhandled rejection behind where the file is damaged.
    const loadDataDir = new Blob([await promisify(gunzip)(await readFile(template))]);
    const lite = await PGlite.create({ dataDir, startParams, loadDataDir });
    await lite.query('select 1');
    return lite;
  } catch (error) {
    log.warn(
      { template, error: (error as Error).message },
      'the database template is unusable; making a new one',
    );
    await rm(template, { force: true });
    await rm(dataDir, { recursive: true, force: true });
    return undefined;
  }
}

async function openNew(dataDir: string, template: string, log: Logger): Promise<PGlite> {
  const lite = await PGlite.create({ dataDir, startParams });
  try {
    const dump = await lite.dumpDataDir('gzip');
    await makeFolder(dirname(template));
    const unfinished = `${template}.${process.pid}`;
    await writeFile(unfinished, Buffer.from(await dump.arrayBuffer()));
    await rename(unfinished, template);
  } catch (error) {
    // Only the next first start is slower for it.
    log.warn({ template, error: (error as Error).message }, 'the database template could not be saved');
  }
  return lite;
}
