import { describe, expect, test } from 'vitest';
import { findDeadCode } from '../../src/generation/find-dead-code.ts';

function deadIn(files: Readonly<Record<string, string>>): string[] {
  return findDeadCode(Object.entries(files).map(([path, text]) => ({ path, text }))).map(
    (problem) => `${problem.file}:${problem.line} ${problem.message}`,
  );
}

describe('dead code', () => {
  test('a function that nothing calls is found, a called one is not', () => {
    const text =
      'static int used(int x) { return x; }\nstatic int unused(int x) { return used(x); }\nint main() { return used(1); }\n';
    expect(deadIn({ 'a.cpp': text })).toEqual(['a.cpp:2 nothing refers to the function unused']);
  });

  test('a call to itself and a declaration in a header do not keep a function alive', () => {
    expect(
      deadIn({
        'a.h': 'int loop(int x);\n',
        'a.cpp': '#include "a.h"\nint loop(int x) { return x > 0 ? loop(x - 1) : 0; }\nint main() {}\n',
      }),
    ).toEqual(['a.cpp:2 nothing refers to the function loop']);
  });

  test('names in comments, strings and preprocessor lines are no references', () => {
    const text =
      '#define CALL ghost()\nint ghost() { return 1; }  // ghost()\nconst char* s() { return "ghost()"; }\nint main() { s(); }\n';
    expect(deadIn({ 'a.cpp': text })).toEqual(['a.cpp:2 nothing refers to the function ghost']);
  });

  test('functions inside namespaces and headers, templates and methods count', () => {
    const text = `
namespace {
template <typename T, int N = (1 > 0)>
T twice(const T& x) { return x + x; }
struct Pool {
  Pool(int n) : size_{n}, other_(n) { grow(); }
  ~Pool() {}
  void grow() { size_++; }
  [[nodiscard]] int idle() const noexcept { return size_; }
  int size_, other_ = 0;
};
std::vector<std::function<void(int)>> make(int n) { return {}; }
}  // namespace
int main() { Pool p{1}; }
`;
    expect(deadIn({ 'a.cpp': text })).toEqual([
      'a.cpp:4 nothing refers to the function twice',
      'a.cpp:9 nothing refers to the function idle',
      'a.cpp:12 nothing refers to the function make',
    ]);
  });

  test('methods defined outside of their class are found by their own name', () => {
    const text =
      'struct Json { int take(); int drop(); };\nint Json::take() { return 1; }\nint Json::drop() { return 2; }\nint main() { Json j; return j.take(); }\n';
    expect(deadIn({ 'a.cpp': text })).toEqual(['a.cpp:3 nothing refers to the function drop']);
  });

  test('types, aliases and variables that nothing uses are found', () => {
    const text = `
struct Unused { int x; };
struct Used { int x; };
using Number = int;
enum class Mode { a, b };
enum Opcode : int { hello = 1, quit };
typedef float vecf __attribute__((vector_size(32)));
inline constexpr int lanes = 8;
constexpr std::array<int, 3> table{1, 2, 3};
static const char* const names[] = {"a", "b"};
int main() { Used u; return names[0][0] + quit; }
`;
    expect(deadIn({ 'a.cpp': text })).toEqual([
      'a.cpp:2 nothing refers to the type Unused',
      'a.cpp:4 nothing refers to the type Number',
      'a.cpp:5 nothing refers to the type Mode',
      'a.cpp:7 nothing refers to the type vecf',
      'a.cpp:8 nothing refers to the variable lanes',
      'a.cpp:9 nothing refers to the variable table',
    ]);
  });

  test('a type that only its own methods name is dead', () => {
    expect(
      deadIn({ 'a.cpp': 'struct Alone { void go(); };\nvoid Alone::go() { go(); }\nint main() {}\n' }),
    ).toEqual(['a.cpp:1 nothing refers to the type Alone', 'a.cpp:2 nothing refers to the function go']);
  });

  test('a constant of config.h that no file uses is found', () => {
    const files = {
      'config.h':
        'namespace config {\ninline constexpr int used = 1;\ninline constexpr std::array<int, 2> windows = {0, 1};\n}\n',
      'a.cpp': 'int main() { int windows = 2; return config::used + windows; }\n',
    };
    expect(deadIn(files)).toEqual(['config.h:3 no file uses config::windows']);
  });

  test('raw strings, digit separators and character literals do not confuse it', () => {
    const text = `
const char* text() { return R"x(} int ghost() { " )x"; }
char brace() { return '{' + '\\'' + 1'000; }
int main() { return text()[0] + brace(); }
int lost() { return 0; }
`;
    expect(deadIn({ 'a.cpp': text })).toEqual(['a.cpp:5 nothing refers to the function lost']);
  });
});
