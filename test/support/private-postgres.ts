import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A PostgreSQL server of the tests' own, reachable by a unix socket in its folder only. */
export interface PrivatePostgres {
  /** Connection URL of a new, empty database. */
  createDatabase(name: string): string;
  stop(): void;
}

const root = '/usr/lib/postgresql';

/** Folder of Debian's server programs, newest version. */
function findPrograms(): string | undefined {
  if (!existsSync(root)) return undefined;
  const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
}

/** For `it.skipIf`, as `isLacking`: with METAINFER_FORBID_SKIPS=1 the tests run and fail by themselves. */
export function isPostgresLacking(): boolean {
  return process.env.METAINFER_FORBID_SKIPS !== '1' && findPrograms() === undefined;
}

/** Started in about two seconds. The server refuses to run as root, so root gives it to the user `postgres`. */
export function startPrivatePostgres(): PrivatePostgres {
  const programs = findPrograms();
  if (programs === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql');
  const folder = mkdtempSync(join(tmpdir(), 'metainfer-postgres-'));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(folder, userId('-u'), userId('-g'));
  const run = (program: string, ...args: string[]): void => {
    const command = [join(programs, program), ...args];
    const [first, ...rest] = isRoot ? ['runuser', '-u', 'postgres', '--', ...command] : command;
    execFileSync(first!, rest, { stdio: ['ignore', 'ignore', 'inherit'], cwd: folder });
  };
  const data = join(folder, 'data');
  run('initdb', '-D', data, '-A', 'trust', '-U', 'postgres', '-N', '--no-locale', '-E', 'UTF8');
  // Speed over safety against power loss, which nobody tests here.
  const settings = `-c listen_addresses= -c unix_socket_directories=${folder} -c fsync=off -c max_connections=60`;
  run('pg_ctl', '-D', data, '-w', '-l', join(folder, 'log'), '-o', settings, 'start');
  return {
    createDatabase: (name) => {
      run('createdb', '-h', folder, '-U', 'postgres', name);
      return `postgresql://postgres@/${name}?host=${encodeURIComponent(folder)}`;
    },
    stop: () => {
      run('pg_ctl', '-D', data, '-m', 'immediate', 'stop');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function userId(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
}
