function words(...lines: readonly string[]): string[] {
  return lines.join(' ').split(/\s+/);
}

/** What generated C++ may include besides its own headers: the standard library, and POSIX for files and memory. */
export const allowedIncludes: ReadonlySet<string> = new Set(
  words(
    'algorithm array atomic barrier bit bitset cassert cctype cerrno cfloat charconv climits cmath compare',
    'concepts condition_variable csignal cstddef cstdint cstdio cstdlib cstring deque exception format fstream',
    'functional iomanip ios iostream istream iterator latch limits list map memory mutex new numbers numeric',
    'optional ostream queue random ranges semaphore set span sstream stack stdexcept string string_view thread',
    'tuple type_traits unordered_map unordered_set utility variant vector version',
    'immintrin.h errno.h fcntl.h sched.h unistd.h sys/mman.h sys/stat.h sys/types.h',
  ),
);

/** Never, not even as a member: they are words of the language. */
export const forbiddenWords: ReadonlySet<string> = new Set(words('asm extern import export'));

/**
 * What reaches out of the program or replaces a part of it. Wherever these are mentioned but as a member: taking the
 * address of one is as good as calling it, and a declaration of one's own would take the system's place. `x*` is every
 * name that begins with x; a name covers its variant that ends in 64.
 */
export const forbiddenNames: readonly string[] = words(
  // Processes and their environment.
  'system fork vfork clone clone2 clone3 execl* execv* fexecve posix_spawn* popen pclose wordexp daemon environ getenv',
  'secure_getenv setenv putenv unsetenv clearenv exit quick_exit atexit on_exit at_quick_exit set_terminate',
  'set_unexpected set_new_handler kill killpg tgkill tkill raise signal sigaction sigaltstack sigprocmask sigqueue',
  'sigset sigignore sighold sigvec bsd_signal sysv_signal ssignal gsignal psignal pthread_* ptrace prctl arch_prctl',
  'prlimit setrlimit setpriority nice syscall vsyscall setuid setgid seteuid setegid setreuid setregid setresuid',
  'setresgid setgroups initgroups setsid setpgid setpgrp setns unshare personality sched_* sem_open mq_open shmget',
  'shmat msgget semget reboot acct getppid getpid getuid geteuid getlogin* cuserid getpw* getgr* gethost* getauxval',
  'sysconf uname sysinfo getopt getsubopt program_invocation_name program_invocation_short_name setlocale',
  'random_device',
  // Code that comes from elsewhere, and memory that may be run.
  'dlopen dlsym dlvsym dlmopen dlclose dladdr* dlinfo dl_iterate_phdr mprotect pkey_mprotect remap_file_pages mmap',
  'munmap mremap madvise mlock* memfd_create process_vm_readv process_vm_writev process_madvise userfaultfd brk sbrk',
  'init_module finit_module kexec_load bpf io_uring_* perf_event_open PROT_EXEC LD_PRELOAD SYS_*',
  // Files.
  'ofstream wofstream basic_ofstream fstream wfstream basic_fstream ifstream wifstream basic_ifstream filebuf wfilebuf',
  'basic_filebuf stdio_filebuf filesystem experimental fopen freopen fdopen fmemopen fopencookie open_memstream',
  'open_wmemstream tmpfile tmpnam tempnam mktemp mkstemp* mkostemp* mkdtemp open openat openat2 opendir fdopendir',
  'scandir nftw ftw glob open_by_handle_at name_to_handle_at creat close closefrom close_range read write pread pwrite',
  'readv writev preadv pwritev dup dup2 dup3 fcntl ioctl lseek sendfile splice tee vmsplice copy_file_range pipe pipe2',
  'remove remove_all rename renameat renameat2 unlink unlinkat rmdir mkdir mkdirat mkfifo mkfifoat mknod mknodat link',
  'linkat symlink symlinkat readlink readlinkat realpath canonicalize_file_name truncate ftruncate fallocate',
  'posix_fallocate posix_fadvise chmod fchmod fchmodat lchmod chown fchown fchownat lchown chdir fchdir chroot',
  'pivot_root getcwd getwd get_current_dir_name umask utime utimes utimensat futimens futimes lutimes futimesat',
  'setxattr fsetxattr lsetxattr removexattr fremovexattr lremovexattr lockf flock shm_open shm_unlink mount umount',
  'umount2 swapon swapoff quotactl stat fstat lstat fstatat statx access faccessat eaccess euidaccess create_directory',
  'create_directories create_symlink create_hard_link create_directory_symlink copy_file copy_symlink resize_file',
  'permissions last_write_time current_path temp_directory_path inotify_* fanotify_* O_WRONLY O_RDWR O_CREAT O_TRUNC',
  'O_APPEND O_TMPFILE O_PATH O_EXCL getpt posix_openpt grantpt unlockpt ptsname* ttyname* ctermid getpass',
  // Other machines.
  'socket socketpair connect listen accept accept4 sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg getaddrinfo',
  'getnameinfo gethostbyname* res_query res_search setsockopt getsockopt rcmd rexec',
  // The allocator and the clock of the whole program.
  'malloc calloc realloc reallocarray free aligned_alloc posix_memalign memalign valloc pvalloc mallopt settimeofday',
  'stime adjtime adjtimex setitimer alarm ualarm',
  // What time it is, waiting for it, and chance: an engine computes the same whenever it runs.
  'clock clock_* globaltimer gettimeofday timespec_get time times ftime difftime mktime timegm localtime* gmtime*',
  'strftime asctime* ctime* getrusage getitimer timer_* timerfd_* chrono chrono_literals literals sleep* usleep',
  'nanosleep this_thread pause select pselect poll ppoll epoll_* eventfd sigwait* sigsuspend',
  'sigtimedwait getentropy getrandom arc4random* sync syncfs fsync fdatasync sync_file_range msync',
  // The console, either way.
  'printf fprintf vprintf vfprintf wprintf fwprintf vwprintf vfwprintf dprintf vdprintf puts fput*',
  'putc* putw* fwrite fwrite_unlocked perror psiginfo cout cerr clog wcout wcerr wclog stdout stderr stdin cin wcin',
  'getchar* getwchar gets scanf vscanf wscanf vwscanf',
);

/** What single contracts need of it. The shapes that are accepted are in code-shapes.ts. */
export const grants: Readonly<Record<string, readonly string[]>> = {
  'checkpoint.config': ['ifstream'],
  'checkpoint.safetensors': words(
    'ifstream access open close read pread lseek stat fstat posix_fadvise mmap munmap madvise',
  ),
  'format.json': ['ifstream'],
  'harness.protocol': words('fdopen fwrite read write close dup dup2 signal'),
  'interface.cli': words('ifstream ofstream signal cout cerr'),
  'runtime.memory': words('mmap munmap madvise'),
  'runtime.threading': words('sched_yield this_thread'),
  'text.tokenizer': ['ifstream'],
};

/** Their patterns are unreadable otherwise. Within one line: what looks like code to a reader is code. */
export const rawStringContracts: ReadonlySet<string> = new Set(['text.pre-tokenizer']);

/** As `[[name]]`. */
export const allowedStandardAttributes: ReadonlySet<string> = new Set(
  words('nodiscard maybe_unused likely unlikely noreturn fallthrough'),
);

/** As `__attribute__((name))`. */
export const allowedAttributes: ReadonlySet<string> = new Set(
  words('vector_size aligned noinline always_inline unused cold hot may_alias target packed'),
);

/** Of the names that begin with an underscore or hold two, which are the implementation's. */
export const allowedReserved: readonly RegExp[] = [
  /^_$/,
  /^_mm(?:256|512)?_[a-z0-9_]+$/,
  /^__m(?:64|128|256|512)(?:i|d|h|bh)?(?:_u)?$/,
  /^__mmask(?:8|16|32|64)$/,
  /^_MM_(?:HINT|FROUND|CMPINT|PERM|MANT|SHUFFLE)[A-Z0-9_]*$/,
  /^_CMP_[A-Z]+_[A-Z]+$/,
  /^(?:__restrict(?:__)?|__attribute__|_Float16|__bf16|__int128)$/,
  /^__builtin_(?:ia32_(?!rd|wr|x(?:save|rstor)|[tu]pause|u?mwait|u?monitor)[a-z0-9_]+|(?:add|sub|mul)_overflow|convertvector|shuffle(?:vector)?|bit_cast)$/,
  /^__builtin_(?:expect|unreachable|trap|prefetch|assume_aligned|is_constant_evaluated|bswap(?:16|32|64))$/,
  /^__builtin_(?:popcount|clz|ctz|ffs|parity)(?:l|ll)?$/,
  /^__builtin_(?:sqrt|fma|fabs|exp|exp2|log|pow|floor|ceil|rint|nearbyint|trunc|fmin|fmax|copysign|inf|nan|huge_val)f?$/,
];

const exactNames = new Set(forbiddenNames.filter((name) => !name.endsWith('*')));
const prefixes = forbiddenNames.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));

export function isForbiddenName(name: string): boolean {
  const plain = name.replace(/64$/, '');
  return exactNames.has(plain) || exactNames.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}
