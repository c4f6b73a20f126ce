import { findIncludes } from '../model/cpp-tokens.ts';
import type { EngineFile } from '../model/engine.ts';
import type { Problem } from '../model/problem.ts';

/** The C++20 standard library as far as an engine may need it; nothing that starts processes or opens sockets. */
const standard =
  'algorithm array atomic bit bitset cassert cctype cerrno cfloat charconv chrono climits cmath compare concepts ' +
  'condition_variable cstddef cstdint cstdio cstdlib cstring deque exception filesystem fstream functional initializer_list ' +
  'iomanip iostream istream iterator limits list locale map memory memory_resource mutex new numbers numeric optional ' +
  'ostream queue random ranges set shared_mutex span sstream stdexcept string string_view system_error thread tuple ' +
  'type_traits unordered_map unordered_set utility variant vector';
/** POSIX files, memory maps, signals and waiting; plus the vector intrinsics of the platform. */
const platformHeaders =
  'unistd.h fcntl.h sys/mman.h sys/stat.h sys/types.h sys/uio.h poll.h sched.h signal.h csignal pthread.h time.h errno.h ' +
  'linux/futex.h sys/syscall.h immintrin.h';
const allowed = new Set([...standard.split(' '), ...platformHeaders.split(' ')]);

/** An engine includes its own headers and those on the list; everything else is named with its place. */
export function checkIncludes(files: readonly EngineFile[]): Problem[] {
  const own = new Set(files.filter((file) => file.path.endsWith('.h')).map((file) => file.path));
  return files
    .filter((file) => /\.(?:h|cpp|cu)$/.test(file.path))
    .flatMap((file) =>
      findIncludes(file.text)
        .filter(({ written }) => {
          const name = written.slice(1, -1);
          return written.startsWith('<') ? !allowed.has(name) : !written.startsWith('"') || !own.has(name);
        })
        .map(({ written, line }) => ({
          severity: 'error',
          code: 'include-not-allowed',
          file: file.path,
          line,
          message: `${written} is neither a header of this engine nor on the list of allowed headers`,
        })),
    );
}
