import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  confine,
  defaultLimits,
  describeProtection,
  type Limits,
  probeSandbox,
  type Sandbox,
} from '../../src/verification/sandbox.ts';
import { runSandboxed } from '../../src/verification/sandboxed-process.ts';

const bubblewrap = probeSandbox('auto');
const none = probeSandbox('off');
let scratch = '';

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'metainfer-sandbox-'));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function shell(
  script: string,
  options: { sandbox?: Sandbox; limits?: Partial<Limits>; readOnly?: string[]; signal?: AbortSignal } = {},
) {
  return runSandboxed({
    sandbox: options.sandbox ?? bubblewrap,
    command: ['/bin/bash', '-c', script],
    readOnlyPaths: options.readOnly ?? [],
    scratch,
    environment: { PATH: '/usr/bin' },
    limits: { wallSeconds: 20, pollMs: 20, ...options.limits },
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
}

/** Processes anywhere on this machine whose command line holds `mark`. */
function survivors(mark: string): number {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark);
      } catch {
        return false;
      }
    }).length;
}

const hasBubblewrap = bubblewrap.kind === 'bubblewrap';

test('the protection in force is described in words', () => {
  const text = describeProtection(none, defaultLimits);
  expect(text).toMatchObject({ sandbox: 'none', reason: 'switched off by the operator' });
  expect(text.limits.join('; ')).toMatch(/RLIMIT_CPU by prlimit/);
});

test.runIf(hasBubblewrap)(
  'a sandboxed command sees an empty environment, another user and no other process',
  async () => {
    const end = await shell('id -u; env; ls /proc | grep -c "^[0-9]"');
    const lines = end.stdout.toString().trim().split('\n');
    expect(lines[0]).toBe('65534');
    expect(lines.some((line) => line.startsWith('HOME='))).toBe(false);
    expect(Number(lines.at(-1))).toBeLessThan(8);
  },
);

test.runIf(hasBubblewrap)('a sandboxed command has no network', async () => {
  const end = await shell('cat /proc/net/dev | tail -n +3 | cut -d: -f1; exec 5<>/dev/tcp/1.1.1.1/53');
  expect(end.stdout.toString().trim()).toBe('lo');
  expect(end.exitCode).not.toBe(0);
  expect(end.stderr.toString()).toMatch(/unreachable/i);
});

test.runIf(hasBubblewrap)(
  "a sandboxed command can read neither home, nor the repository, nor the machine's secrets",
  async () => {
    const paths = ['/root', '/home', '/etc/passwd', '/etc/shadow', '/var', '/sys', resolve('.'), tmpdir()];
    const end = await shell(
      `for path in ${paths.join(' ')}; do ls -A "$path" 2>/dev/null; cat "$path" 2>/dev/null; done`,
    );
    // /tmp is its own, empty but for the scratch folder that lies in it.
    expect(
      end.stdout
        .toString()
        .trim()
        .split('\n')
        .filter((line) => !scratch.endsWith(line)),
    ).toEqual([]);
  },
);

test.runIf(hasBubblewrap)('a sandboxed command writes its scratch folder and nothing else', async () => {
  const given = mkdtempSync(join(tmpdir(), 'metainfer-given-'));
  writeFileSync(join(given, 'weights'), 'original');
  const end = await shell(
    `echo ok > mine; for path in / /usr /dev /bin ${given}; do (echo x > $path/intruder) 2>/dev/null && echo wrote $path; done; ` +
      `(echo x > ${given}/weights) 2>/dev/null && echo overwrote; mount -o remount,rw ${given} 2>/dev/null && echo remounted; cat ${given}/weights`,
    { readOnly: [given] },
  );
  expect(end.stdout.toString()).toBe('original');
  expect(readFileSync(join(scratch, 'mine'), 'utf8')).toBe('ok\n');
  expect(readFileSync(join(given, 'weights'), 'utf8')).toBe('original');
  rmSync(given, { recursive: true });
});

test.each([bubblewrap, none].map((sandbox) => [sandbox.kind, sandbox] as const))(
  'under %s, limits end what exceeds them',
  async (_, sandbox) => {
    const wall = await shell('sleep 30', { sandbox, limits: { wallSeconds: 0.5 } });
    expect(wall.reason).toBe('wall-time');
    expect(wall.wallSeconds).toBeLessThan(5);
    const cpu = await shell('(while :; do :; done) & (while :; do :; done) & wait', {
      sandbox,
      limits: { cpuSeconds: 1 },
    });
    expect(cpu.reason).toBe('cpu-time');
    const memory = await shell('head -c 2000000000 /dev/zero | tail', {
      sandbox,
      limits: { memoryBytes: 300 * 2 ** 20 },
    });
    expect(memory.reason).toBe('memory');
    const flood = await shell('yes', { sandbox, limits: { outputBytes: 100_000 } });
    expect([flood.reason, flood.stdout.length]).toEqual(['output', 100_000]);
    const file = await shell('head -c 5000000 /dev/zero > big; stat -c %s big; rm big', {
      sandbox,
      limits: { fileBytes: 1_000_000 },
    });
    expect(file.stdout.toString().trim()).toBe('1000000');
    const many = await shell('for ((i = 0; ; i++)); do head -c 1000000 /dev/zero > part$i; done', {
      sandbox,
      limits: { scratchBytes: 20_000_000 },
    });
    expect(many.reason).toBe('files');
  },
  60_000,
);

test.each([bubblewrap, none].map((sandbox) => [sandbox.kind, sandbox] as const))(
  'under %s, a fork bomb is ended and leaves nothing',
  async (_, sandbox) => {
    const mark = `bomb-${sandbox.kind}-${process.pid}`;
    // Whatever becomes of the limits, it ends by itself: a bomb of root's that goes on takes the machine with it.
    const deadline = Math.ceil(Date.now() / 1000) + 4;
    const bomb = `while (( EPOCHSECONDS < ${deadline} )); do bash "$0" & bash "$0" & sleep 0.02; done`;
    writeFileSync(join(scratch, mark), bomb);
    const end = await shell(`bash ${join(scratch, mark)}`, {
      sandbox,
      limits: { processes: 40, pollMs: 10 },
    });
    expect(['processes', 'exit']).toContain(end.reason);
    expect(end.wallSeconds).toBeLessThan(15);
    await new Promise((done) => setTimeout(done, 300));
    expect(survivors(mark)).toBe(0);
  },
  60_000,
);

test.each([bubblewrap, none].map((sandbox) => [sandbox.kind, sandbox] as const))(
  'under %s, grandchildren in sessions of their own die with the time-out and with the abort',
  async (_, sandbox) => {
    const mark = `98765${process.pid}`;
    const script = `setsid setsid sleep ${mark} & (setsid sleep ${mark} &) ; while :; do :; done`;
    const timedOut = await shell(script, { sandbox, limits: { wallSeconds: 0.7 } });
    expect(timedOut.reason).toBe('wall-time');
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 400);
    const aborted = await shell(script, { sandbox, signal: controller.signal });
    expect(aborted.reason).toBe('aborted');
    await new Promise((done) => setTimeout(done, 200));
    expect(survivors(mark)).toBe(0);
  },
);

test('daemons that outlive a command that ended by itself are swept up', async () => {
  const mark = `87654${process.pid}`;
  for (const sandbox of [bubblewrap, none]) {
    const end = await shell(`(setsid sleep ${mark} >/dev/null 2>&1 &); echo done`, { sandbox });
    expect(end.stdout.toString()).toBe('done\n');
  }
  await new Promise((done) => setTimeout(done, 200));
  expect(survivors(mark)).toBe(0);
});

const gpu = ['/dev/nvidia0', '/dev/nvidiactl', '/dev/nvidia-uvm'];

test('a program that uses a GPU is given its device files and what describes them, a compiler is not', () => {
  const sandbox = { kind: 'bubblewrap', reason: '' } as const;
  const words = (devices: readonly string[] | undefined) =>
    confine(
      ['/engine'],
      { sandbox, readOnlyPaths: ['/engine'], ...(devices === undefined ? {} : { devices }) },
      defaultLimits,
    ).join(' ');
  const withDevices = words(gpu);
  for (const path of gpu) expect(withDevices).toContain(` --dev-bind-try ${path} ${path} `);
  expect(withDevices).toContain(' --ro-bind-try /sys/devices /sys/devices ');
  expect(withDevices).toContain(' --setenv CUDA_CACHE_DISABLE 1 ');
  // Behind the sandbox's own /dev, which would hide them, and before that is closed.
  const order = ['--dev /dev', '--dev-bind-try /dev/nvidia0', '--remount-ro /dev'].map((word) =>
    withDevices.indexOf(word),
  );
  expect(order).toEqual([...order].sort((a, b) => a - b));
  expect(order).not.toContain(-1);
  for (const without of [words([]), words(undefined)]) expect(without).not.toMatch(/nvidia|\/sys|CUDA/);
  expect(withDevices).toMatch(/--unshare-all .*--clearenv/);
});

// What a sandbox shows of /dev by itself cannot show whether a device file was handed over.
const ownDevices = ['console', 'full', 'null', 'ptmx', 'random', 'tty', 'urandom', 'zero'];
const device = readdirSync('/dev', { withFileTypes: true })
  .filter((entry) => entry.isCharacterDevice() && !ownDevices.includes(entry.name))
  .map(({ name }) => `/dev/${name}`)[0];

test.runIf(hasBubblewrap)(
  'a device file is there for who is given it, whether or not all of them exist',
  async () => {
    const look = async (devices: readonly string[]) => {
      const command = [
        '/bin/bash',
        '-c',
        `ls ${device ?? '/dev/null'}; ls -d /sys; touch /dev/more /sys/devices/more`,
      ];
      const end = await runSandboxed({ sandbox: bubblewrap, command, readOnlyPaths: [], devices });
      return [end.stdout.toString(), end.stderr.toString()] as const;
    };
    const given = device === undefined ? [] : [device];
    const [seen, refused] = await look([...given, '/dev/nothing-of-this-name']);
    expect(seen).toBe(`${device ?? '/dev/null'}\n/sys\n`);
    expect(refused.match(/Read-only file system|Permission denied/g)).toHaveLength(2);
    expect((await look([]))[0]).toBe(device === undefined ? '/dev/null\n' : '');
  },
);

test('without a sandbox a program that uses a GPU still finds what the driver asks its environment for', async () => {
  const run = (devices: readonly string[]) =>
    runSandboxed({ sandbox: none, command: ['/usr/bin/env'], readOnlyPaths: [], devices });
  expect((await run(gpu)).stdout.toString()).toContain('CUDA_CACHE_DISABLE=1');
  expect((await run([])).stdout.toString()).not.toContain('CUDA');
});
