import { findClosing } from './code-shapes.ts';
import type { CppToken } from './cpp-tokens.ts';

type Tokens = readonly CppToken[];

/** Whose `launch` checks launches, and who says what checking means. */
export const launcher = 'runtime.cuda';
/** Says in words that memory ran out, and on which device. */
const allocator = 'runtime.memory';

function words(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.join(' ').split(/\s+/));
}

export const calls = words(
  'cudaMalloc cudaFree cudaMallocHost cudaFreeHost cudaMemcpyAsync cudaMemcpy2DAsync cudaMemsetAsync',
  'cudaStreamSynchronize cudaStreamBeginCapture cudaStreamEndCapture cudaGraphInstantiate cudaGraphLaunch',
  'cudaGraphExecDestroy cudaGraphDestroy cudaGetDeviceCount cudaGetDeviceProperties cudaSetDevice cudaGetLastError',
);
/** What may fail unheard, for nothing is lost with it and destructors throw nothing. */
const releases = words('cudaFree cudaFreeHost cudaGraphExecDestroy cudaGraphDestroy cudaStreamEndCapture');
/** The stream is the last argument of the one and the first of the other. */
const streamLast = words('cudaMemcpyAsync cudaMemcpy2DAsync cudaMemsetAsync cudaGraphLaunch');
const streamFirst = words('cudaStreamSynchronize cudaStreamBeginCapture cudaStreamEndCapture');

function textAt(tokens: Tokens, index: number): string {
  return tokens[index]?.text ?? '';
}

/** Whether these texts stand from `index` on. */
function hasTexts(tokens: Tokens, index: number, texts: readonly string[]): boolean {
  return texts.every((text, step) => tokens[index + step]?.text === text);
}

/** Of a call that returns a status, which must be looked at where it is called, and nowhere else. */
export function judgeCall(tokens: Tokens, index: number, contract: string | null): string | undefined {
  const name = textAt(tokens, index);
  const close = findClosing(tokens, index + 1);
  if (textAt(tokens, index + 1) !== '(' || close === undefined)
    return `${name} is not allowed but where it is called`;
  const start = textAt(tokens, index - 1) === '::' ? index - 1 : index;
  const isHeard =
    isChecked(tokens, start, close) ||
    (releases.has(name) && isLetGo(tokens, start, close, name)) ||
    (contract === allocator && isKept(tokens, start, close));
  if (!isHeard) {
    const ways = `check_cuda(${name}(...), "what")${releases.has(name) ? `, or ignore_cuda(${name}(...)) where an object lets go` : ''}`;
    return `unchecked CUDA call: ${name} must stand in ${ways}`;
  }
  if (name === 'cudaGetDeviceProperties' && textAt(tokens, index - 7) !== 'cudaDeviceProp')
    return propertiesShape;
  return judgeStream(tokens, index, close);
}

/** A statement of its own: `check_cuda(call(...), "what");`. */
function isChecked(tokens: Tokens, start: number, close: number): boolean {
  if (!hasTexts(tokens, start - 2, ['check_cuda', '(']) || !isStatement(tokens, start - 2)) return false;
  let end = close + 2;
  if (tokens[end]?.kind === 'identifier') end++;
  else while (tokens[end]?.kind === 'literal') end++;
  return end > close + 2 && textAt(tokens, close + 1) === ',' && hasTexts(tokens, end, [')', ';']);
}

function isLetGo(tokens: Tokens, start: number, close: number, name: string): boolean {
  if (!hasTexts(tokens, start - 2, ['ignore_cuda', '(']) || !isStatement(tokens, start - 2)) return false;
  if (!hasTexts(tokens, close + 1, [')', ';'])) return false;
  // What was recorded counts, unless something else failed.
  const isFailing = hasTexts(tokens, start - 9, ['catch', '(', '.', '.', '.', ')', '{']);
  return name !== 'cudaStreamEndCapture' || isFailing;
}

function isStatement(tokens: Tokens, index: number): boolean {
  return ['', ';', '{', '}', ')', ':', 'else', 'do'].includes(textAt(tokens, index - 1));
}

/** `cudaError_t status = call(...); if (status != cudaSuccess || ...) throw ...`. */
function isKept(tokens: Tokens, start: number, close: number): boolean {
  const status = textAt(tokens, start - 2);
  if (textAt(tokens, start - 1) !== '=' || textAt(tokens, start - 3) !== 'cudaError_t') return false;
  if (!hasTexts(tokens, close + 1, [';', 'if', '(', status, '!=', 'cudaSuccess'])) return false;
  const end = findClosing(tokens, close + 3) ?? tokens.length;
  const more = tokens.slice(close + 7, end).map(({ text }) => text);
  if (more.length > 0 && (more[0] !== '||' || more.some((text) => /^[?,=]$/.test(text)))) return false;
  return textAt(tokens, end + 1) === 'throw' || hasTexts(tokens, end + 1, ['{', 'throw']);
}

/** All work goes to one stream; no argument at all would mean another. */
function judgeStream(tokens: Tokens, index: number, close: number): string | undefined {
  const name = textAt(tokens, index);
  const wanted = ['engine_stream', '(', ')'];
  const isFirst =
    hasTexts(tokens, index + 2, wanted) && [',', ')'].includes(textAt(tokens, index + 2 + wanted.length));
  const isLast = hasTexts(tokens, close - 4, [',', ...wanted]);
  if ((streamLast.has(name) && !isLast) || (streamFirst.has(name) && !isFirst))
    return `${name} is not allowed but with engine_stream() as its stream`;
  return undefined;
}

/** Nobody but runtime.cuda says what checking means, and which stream it is. */
export function judgeChecker(tokens: Tokens, index: number, contract: string | null): string | undefined {
  const name = textAt(tokens, index);
  if (contract === launcher) return undefined;
  if (name === 'engine_stream') {
    const isArgument =
      ['(', ','].includes(textAt(tokens, index - 1)) && hasTexts(tokens, index + 1, ['(', ')']);
    return isArgument && [',', ')'].includes(textAt(tokens, index + 3))
      ? undefined
      : 'engine_stream is not allowed but as an argument of a CUDA call';
  }
  const inner = textAt(tokens, index + 2) === '::' ? index + 3 : index + 2;
  const isCall = calls.has(textAt(tokens, inner)) && textAt(tokens, inner + 1) === '(';
  if (textAt(tokens, index + 1) === '(' && isCall && isStatement(tokens, index)) return undefined;
  // Its own name says more of a call that is not among those.
  if (textAt(tokens, index + 1) === '(' && /^cuda[A-Z]/.test(textAt(tokens, inner)) && !isCall)
    return textAt(tokens, inner) === 'cudaError_t' ? `${name}${around}` : undefined;
  return `${name}${around}`;
}

const around = ' is not allowed but around a CUDA call, as a statement of its own';

/** A status, or a stream, by its type or as a value: two contracts have a need of them. */
export function judgeStatus(tokens: Tokens, index: number, contract: string | null): string | undefined {
  const name = textAt(tokens, index);
  if (contract === launcher) return undefined;
  if (name === 'cudaStream_t' || name === 'cudaStreamPerThread')
    return `${name} is not allowed: engine_stream() of runtime.cuda is the stream`;
  const inner = textAt(tokens, index + 3) === '::' ? index + 4 : index + 3;
  const isKeeper = textAt(tokens, index + 2) === '=' && calls.has(textAt(tokens, inner));
  const isCompared = textAt(tokens, index - 1) === '!=';
  if (contract === allocator && (name === 'cudaError_t' ? isKeeper : isCompared)) return undefined;
  return `${name} is not allowed: check_cuda(...) looks at what a CUDA call returns`;
}

/** What engines ask of a device. Its name and memory tell where an engine runs, and are for a message alone. */
const members: Readonly<Record<string, ReadonlySet<string>>> = {
  [allocator]: words('name totalGlobalMem'),
};
const commonMembers = words('multiProcessorCount');
const propertiesShape =
  'cudaDeviceProp is not allowed but as cudaDeviceProp name{}; check_cuda(cudaGetDeviceProperties(&name, 0), "what");';
const comparisons = words(
  'find rfind find_first_of find_last_of contains starts_with ends_with compare strcmp strncmp strcasecmp strstr',
  'strchr memcmp search hash substr size length at front back data c_str regex equal string_view switch',
);

/** One variable at a time, read member by member. */
export function judgeProperties(tokens: Tokens, index: number, contract: string | null): string | undefined {
  const name = textAt(tokens, index + 1);
  const asked = ['{', '}', ';', 'check_cuda', '(', 'cudaGetDeviceProperties', '(', '&', name, ',', '0', ')'];
  if (!hasTexts(tokens, index + 2, asked)) return propertiesShape;
  const allowed = members[contract ?? ''] ?? commonMembers;
  for (const [at, { text }] of tokens.entries()) {
    if (text !== name || textAt(tokens, at - 1) === 'cudaDeviceProp') continue;
    if (hasTexts(tokens, at - 3, ['cudaGetDeviceProperties', '(', '&'])) continue;
    const member = textAt(tokens, at + 1) === '.' ? textAt(tokens, at + 2) : '';
    if (!allowed.has(member))
      return `${name}.${member} is not allowed: of a device engines may ask ${[...allowed].join(', ')}`;
  }
  if (!allowed.has('name')) return undefined;
  const told = tokens.find(
    ({ text }, at) =>
      comparisons.has(text) ||
      (/^[=!]=$/.test(text) && !['cudaSuccess', '0', 'nullptr'].includes(textAt(tokens, at + 1))),
  );
  return told === undefined
    ? undefined
    : `${told.text} is not allowed in a file that holds a device's name, which is for messages`;
}
