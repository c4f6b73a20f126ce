import { describe, expect, it } from 'vitest';
import { scanSource } from '../../src/model/code-rules.ts';

const headers = new Set(['norm_rms.h', 'config.h']);

function messagesOf(text: string, contract: string | null = 'norm.rms'): string[] {
  return scanSource(text, { headers, contract }).map(({ message }) => message);
}

const groups: Record<string, [RegExp, string[]]> = {
  'spellings that hide code': [
    /raw string|backslash|digraph|trigraph|directive|in code|invisible/,
    [
      'auto s = R"(\n#include "config.h" )"; int x;\n// )"',
      'auto s = R"(x)";',
      'auto s = u8R"d(x)d";',
      'auto s = LR"(x)"; auto t = uR"(x)"; auto u = UR"(x)";',
      'int sys\\\ntem = 1;',
      'int a = 1; // note \\\nb();',
      '// note \\ \nb();',
      'auto s = "a\\\nb";',
      'void f() <% %>',
      'int a<:1:>;',
      '%:include <vector>',
      '/* */ #include <vector>',
      '??=include <vector>',
      'int a??(1??);',
      '#define F 1',
      '#define int long',
      '#define F(a, b) a##b',
      '#undef F',
      '#if 1\n#endif',
      '#ifdef X\n#endif',
      '#error x',
      '#line 1 "x"',
      '#pragma weak f',
      '#pragma GCC push_options',
      '#pragma once x',
      '#include <vector> int x = 1;',
      '#include "config.h" /* \n x */',
      '#embed "config.h"',
      'int a = 1; # b',
      'int \\u0061b = 1;',
      'int $a = 1;',
      'int \u0430 = 1;',
      'int a; \u0007',
      '// \u202e }',
    ],
  ],
  attributes: [
    /attribute|implementation's/,
    [
      '[[gnu::constructor]] static void f() {}',
      '[[using gnu: constructor]] static void f() {}',
      '[[maybe_unused, gnu::constructor]] static void f() {}',
      '[[gnu::weak]] void f() {}',
      '[ /* */ [gnu::section(".init_array")]] void (*p)() = f;',
      '[[constructor]] void f() {}',
      '[[deprecated]] void f() {}',
      '[[__gnu__::__constructor__]] void f() {}',
      '__attribute((constructor)) static void f() {}',
      '__attribute__((constructor)) static void f() {}',
      '__attribute__((cold, constructor)) static void f() {}',
      '__attribute__((__constructor__(101))) static void f() {}',
      '__attribute__((alias("x"))) void f();',
      '__attribute__((ifunc("x"))) void f();',
      '__attribute__((cleanup(g))) int x;',
      '__declspec(dllexport) void f();',
    ],
  ],
  files: [
    /is not allowed/,
    [
      'std::basic_ofstream<char> o("x");',
      'std::ofstream o("x");',
      'std::wofstream o("x");',
      'std::fstream o("x");',
      'std::ifstream i("x");',
      'std::filebuf b;',
      'std::basic_filebuf<char> b;',
      'FILE* f = std::fopen("x", "w");',
      'FILE* f = fopen64("x", "w");',
      'FILE* f = freopen("x", "w", stdout);',
      'FILE* f = fdopen(1, "w");',
      'FILE* f = fopencookie(p, "w", c);',
      'FILE* f = tmpfile();',
      'int d = open("x", 0101, 0644);',
      'int d = open("x", O_RDONLY);',
      'auto p = &open;',
      'int d = open64("x", 1);',
      'int d = openat(-100, "x", 0101, 0644);',
      'int d = creat("x", 0644);',
      'int f = O_TRUNC;',
      ...'remove rename unlink unlinkat rmdir mkdir link linkat symlink truncate ftruncate chmod mknod mkstemp'
        .split(' ')
        .map((name) => `auto p = &::${name};`),
      'std::remove("x");',
      'namespace fs = std::filesystem;',
      'using std::filesystem::copy;',
      'std::filesystem::remove("x");',
      'std::filesystem::resize_file("x", 0);',
      'std::filesystem::create_symlink("a", "b");',
      '#include <filesystem>',
      'std::experimental::filesystem::remove("x");',
    ],
  ],
  'processes, environment, libraries, other machines': [
    /is not allowed/,
    [
      'extern char** environ;',
      ...'environ __environ getenv secure_getenv setenv putenv fork _Fork vfork clone clone3 execve execveat fexecve'
        .split(' ')
        .map((name) => `auto p = &${name};`),
      ...'__execve posix_spawn posix_spawnp posix_spawn_file_actions_addopen popen system _exit _Exit quick_exit exit'
        .split(' ')
        .map((name) => `auto p = ::${name};`),
      ...'atexit at_quick_exit on_exit dlopen dlsym __libc_dlsym syscall ptrace kill raise sigaction pthread_kill'
        .split(' ')
        .map((name) => `auto p = ${name};`),
      ...'socket socketpair connect listen accept sendto sendmsg recvfrom getaddrinfo mmap mprotect'
        .split(' ')
        .map((name) => `auto p = (${name});`),
      'std::set_terminate(f);',
      'std::signal(SIGSEGV, f);',
      'struct S { int (*system)(const char*); };',
      'using namespace std; auto p = &std::system;',
      'template <class... T> auto p = (... + system);',
    ],
  ],
  'paths of the machine': [
    /path/,
    [
      ...'/proc/self/cmdline /sys/kernel /dev/mem /etc/shadow /home /root/x /tmp/x /var/x /usr/lib/x ~/x ../x a/../b'
        .split(' ')
        .map((path) => `const char* s = "${path}";`),
      'const char* s = u8"/proc/self";',
      'const char* s = "/pr" /* */ "oc/self";',
      'const char* s = "\\x2f\\145tc/shadow";',
      'const char* s = "file:///etc/shadow";',
    ],
  ],
  'the runtime of the program': [
    /is not allowed/,
    [
      'void* operator new(std::size_t n) { return p; }',
      'void operator delete[](void* p) noexcept {}',
      'void* malloc(std::size_t n) { return p; }',
      'void free(void* p) {}',
      'ssize_t write(int, const void*, size_t) { return 0; }',
      'extern "C" int f();',
      'extern int x;',
      'asm("nop");',
      '__asm__("nop");',
      'import <vector>;',
      'export module x;',
      'int x = __has_include(<vector>);',
      '_Pragma("weak f")',
      'int x = __builtin_execl(a, b);',
      'int __libc_start_main;',
      'int _start;',
    ],
  ],
};

describe('generated code may hold', () => {
  for (const [group, [message, texts]] of Object.entries(groups)) {
    it.each(texts)(`none of the ${group}: %s`, (text) => {
      expect(messagesOf(text)).toContainEqual(expect.stringMatching(message));
    });
  }

  it.each([
    '#include <vector> // why\n#include "norm_rms.h"\n#pragma GCC unroll 8\n',
    '[[nodiscard]] [[maybe_unused, noreturn]] static int f() { switch (1) { [[likely]] case 1: [[fallthrough]]; } }',
    '__attribute__((noinline, aligned(64))) static void f() {}',
    'alignas(64) float x[8];',
    'auto f = [p](int i) { return a[b[i]]; };',
    'list.remove(1); file->open(x); stream.write(p, 8); pool.system();',
    '__m256 v = _mm256_loadu_ps(p); __m512i w; _Float16 h; float* __restrict q; _mm_prefetch(p, _MM_HINT_T0);',
    'if (__builtin_mul_overflow(a, b, &c)) v = __builtin_convertvector(w, vecf);',
    'const char* s = "/config.json"; auto t = "a/b"; auto u = first + ".." + last; auto w = "/devices";',
    '// /proc/self/maps: see R"(x)" and system()',
    'for (auto [_, value] : pairs) use(value);',
    'x<::y> z; const bool b = a < ::c;',
  ])('what an engine needs: %s', (text) => {
    expect(messagesOf(text)).toEqual([]);
  });
});

describe('what single contracts need', () => {
  const reading = 'std::ifstream file(path, std::ios::binary);';
  const opening = 'int d = open(path.c_str(), O_RDONLY | O_CLOEXEC);';
  it.each([
    ['format.json', reading],
    ['format.json', 'std::ifstream file; file.open(path); double d = std::trunc(x);'],
    ['checkpoint.safetensors', opening],
    ['checkpoint.safetensors', 'void* p = mmap(nullptr, n, PROT_READ, MAP_PRIVATE, d, 0);'],
    ['harness.protocol', 'std::signal(SIGPIPE, SIG_IGN); FILE* f = fdopen(3, "rb");'],
    ['interface.cli', 'std::ofstream file(path, std::ios::binary);'],
    ['text.pre-tokenizer', 'auto s = R"(\\s+(?!\\S))";'],
  ])('%s may: %s', (contract, text) => {
    expect(messagesOf(text, contract)).toEqual([]);
    if (contract !== 'norm.rms') expect(messagesOf(text)).not.toEqual([]);
  });

  it.each([
    ['format.json', 'std::ifstream file(path, std::ios::out);'],
    ['format.json', 'using F = std::ifstream;'],
    ['format.json', 'typedef std::ifstream F;'],
    ['format.json', 'struct F : std::ifstream {};'],
    ['format.json', 'std::vector<std::ifstream> files;'],
    ['format.json', 'auto p = &std::ifstream::open;'],
    ['format.json', `${reading} file.rdbuf()->open(path, m);`],
    ['format.json', `${reading} file.open(path, m);`],
    ['format.json', `${reading} decltype(file) g(path, m);`],
    ['format.json', `${reading} auto m = file.app;`],
    ['format.json', `${reading} auto m = std::ostream::app;`],
    ['checkpoint.safetensors', 'int d = open(path, 0101, 0644);'],
    ['checkpoint.safetensors', 'int d = open(path, O_RDONLY | 0101);'],
    ['checkpoint.safetensors', 'auto p = &open;'],
    ['checkpoint.safetensors', 'void* p = mmap(nullptr, n, 7, MAP_PRIVATE, d, 0);'],
    ['checkpoint.safetensors', 'void* p = mmap(nullptr, n, PROT_READ | PROT_EXEC, MAP_PRIVATE, d, 0);'],
    ['harness.protocol', 'std::signal(SIGTERM, SIG_IGN);'],
    ['interface.cli', 'int d = creat(path, 0644);'],
    ['text.pre-tokenizer', 'auto s = R"(\n)";'],
  ])('%s may not: %s', (contract, text) => {
    expect(messagesOf(text, contract)).not.toEqual([]);
  });

  it('config.h may hold the model’s own texts', () => {
    expect(messagesOf('constexpr auto s = R"({"_name_or_path":"/home/x"})";', null)).toEqual([]);
    expect(messagesOf('constexpr auto s = R"(\n)";', null)).not.toEqual([]);
  });
});
