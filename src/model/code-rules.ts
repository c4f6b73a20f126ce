import { stripCommentsAndStrings } from './cpp-text.ts';
import { type CppToken, findIncludes, tokenizeCpp } from './cpp-tokens.ts';

/** What generated C++ may include besides its own headers: the standard library, and POSIX for files, memory, threads. */
export const allowedIncludes: ReadonlySet<string> = new Set([
  ...'algorithm array atomic barrier bit bitset cassert cctype cerrno cfloat charconv chrono climits cmath compare csignal'.split(
    ' ',
  ),
  ...'concepts condition_variable cstddef cstdint cstdio cstdlib cstring deque exception filesystem format'.split(
    ' ',
  ),
  ...'fstream functional iomanip ios iostream iterator latch limits list map memory mutex new numbers numeric'.split(
    ' ',
  ),
  ...'optional ostream istream queue random ranges semaphore set span sstream stack stdexcept string'.split(
    ' ',
  ),
  ...'string_view thread tuple type_traits unordered_map unordered_set utility variant vector version'.split(
    ' ',
  ),
  ...'immintrin.h errno.h fcntl.h sched.h unistd.h sys/mman.h sys/stat.h sys/types.h linux/futex.h sys/syscall.h'.split(
    ' ',
  ),
]);

/** Never, whatever stands around it. */
export const forbiddenNames: ReadonlySet<string> = new Set([
  ...'asm __asm __asm__ _Pragma __pragma dlopen dlsym dlmopen ptrace setuid setgid seteuid setreuid chroot'.split(
    ' ',
  ),
  ...'pivot_root memfd_create process_vm_readv process_vm_writev init_module kexec_load bpf io_uring_setup'.split(
    ' ',
  ),
  ...'execl execle execlp execv execve execvp execvpe execveat fexecve posix_spawn posix_spawnp'.split(' '),
  ...'popen vfork getenv secure_getenv setenv putenv unsetenv environ clearenv mprotect LD_PRELOAD'.split(
    ' ',
  ),
  ...'__builtin_return_address __builtin_frame_address wordexp getaddrinfo gethostbyname'.split(' '),
]);

/** Wherever they are mentioned but as a member: taking the address of one is as good as calling it. */
export const forbiddenCalls: ReadonlySet<string> = new Set([
  ...'system fork clone clone3 socket connect sendto recvfrom unlink unlinkat rmdir'.split(' '),
  ...'rename renameat link symlink chmod fchmod chown kill tgkill raise signal sigaction mount umount prctl syscall'.split(
    ' ',
  ),
  ...'truncate ftruncate mkdir mkfifo mknod opendir shm_open tmpfile mkstemp'.split(' '),
  ...'remove_all create_directory create_directories copy_file permissions current_path'.split(' '),
]);

/** Only the command line writes a file: `--logits FILE`. */
export const writingNames: ReadonlySet<string> = new Set([
  'ofstream',
  'fstream',
  'fopen',
  'freopen',
  'O_WRONLY',
  'O_RDWR',
  'O_CREAT',
]);
export const allowedAttributes: ReadonlySet<string> = new Set([
  ...'vector_size aligned noinline always_inline unused cold hot may_alias target packed'.split(' '),
]);

export interface StaticFault {
  readonly line: number;
  readonly message: string;
}

export interface StaticScan {
  /** Headers of the engine folder that may be included. */
  readonly headers: ReadonlySet<string>;
  readonly mayWriteFiles: boolean;
}

/** Everything in one C++ text that generated code may not hold. */
export function scanSource(text: string, scan: StaticScan): StaticFault[] {
  const tokens = tokenizeCpp(text);
  return [
    ...scanDirectives(text, scan),
    ...tokens.flatMap((token, index) => {
      const message = token.kind === 'identifier' ? judgeToken(tokens, index, scan) : undefined;
      return message === undefined ? [] : [{ line: token.line, message }];
    }),
  ];
}

function scanDirectives(text: string, scan: StaticScan): StaticFault[] {
  const faults: StaticFault[] = [];
  const bare = stripCommentsAndStrings(text).split('\n');
  for (const { written, line } of findIncludes(text)) {
    const name = written.slice(1, -1);
    if (
      written.startsWith('"') ? scan.headers.has(name) : written.startsWith('<') && allowedIncludes.has(name)
    )
      continue;
    faults.push({ line, message: `#include ${written} is not allowed` });
  }
  // A directive may be spelt `%:` and be split by a backslash; neither is needed.
  for (const [index, line] of text.split('\n').entries()) {
    const directive = /^\s*(?:#|%:|\?\?=)\s*(.*)$/.exec(line)?.[1];
    if (directive === undefined && /^\s*(?:#|%:|\?\?=)/.test(bare[index] ?? '')) {
      faults.push({ line: index + 1, message: 'a directive behind a comment is not allowed' });
    }
    if (
      directive !== undefined &&
      !/^(?:include\s*["<]|pragma once\s*$|pragma GCC unroll \d+\s*$)/.test(directive)
    ) {
      faults.push({ line: index + 1, message: `the directive #${directive.slice(0, 60)} is not allowed` });
    } else if (/\\\s*$/.test(line)) {
      faults.push({ line: index + 1, message: 'a line continued by a backslash is not allowed' });
    }
  }
  return faults;
}

function judgeToken(tokens: readonly CppToken[], index: number, scan: StaticScan): string | undefined {
  const name = tokens[index]!.text;
  if (forbiddenNames.has(name)) return `${name} is not allowed`;
  if (!scan.mayWriteFiles && writingNames.has(name))
    return `${name} is not allowed: only interface.cli writes a file`;
  if (name === '__attribute__') {
    const attribute = tokens[index + 3]?.text.replace(/^__|__$/g, '') ?? '';
    return allowedAttributes.has(attribute) ? undefined : `the attribute ${attribute} is not allowed`;
  }
  const before = tokens[index - 1]?.text;
  const isMember = before === '.' || before === '->';
  // Writing to a closed pipe is an error value then, not the end of the process; no other signal is touched.
  const isIgnoredPipe = ['(', 'SIGPIPE', ',', 'SIG_IGN', ')'].every(
    (text, step) => tokens[index + 1 + step]?.text === text,
  );
  if (name === 'signal' && isIgnoredPipe) return undefined;
  // A declaration of one's own function of that name would shadow the system's; nothing needs that.
  return !isMember && forbiddenCalls.has(name) ? `${name} is not allowed` : undefined;
}
