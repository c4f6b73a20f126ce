/**
 * Writes the packed Unicode tables into the realizations of text.unicode and text.normalizer:
 * `npx tsx knowledge/contracts/text-unicode/generate-tables.ts`. The source is this Node's own Unicode data.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const codePointLimit = 0x110000;
const hangulSyllables = { first: 0xac00, end: 0xd7a4 } as const;

/** Base 28; continuing digits are '#'..'>', the last one '`'..'{': no quote, backslash or trigraph can arise. */
export function packNumber(value: number): string {
  let digits = String.fromCharCode(0x60 + (value % 28));
  for (let rest = Math.floor(value / 28); rest > 0; rest = Math.floor(rest / 28)) {
    digits = String.fromCharCode(0x23 + (rest % 28)) + digits;
  }
  return digits;
}

/** Small negative numbers stay short: 0, -1, 1, -2, 2 … become 0, 1, 2, 3, 4 … */
function packSigned(value: number): string {
  return packNumber(value < 0 ? -2 * value - 1 : 2 * value);
}

function packRuns(pattern: RegExp): string {
  let packed = '';
  let inside = false;
  let start = 0;
  for (let codePoint = 0; codePoint < codePointLimit; codePoint += 1) {
    if (pattern.test(String.fromCodePoint(codePoint)) === inside) continue;
    packed += packNumber(codePoint - start);
    start = codePoint;
    inside = !inside;
  }
  return packed + (inside ? packNumber(codePointLimit - start) : '');
}

function isHangulSyllable(codePoint: number): boolean {
  return codePoint >= hangulSyllables.first && codePoint < hangulSyllables.end;
}

/**
 * Canonical combining classes are not exposed by JavaScript, but their order is: canonical ordering swaps two marks
 * exactly where the first has the greater class. One representative of each class in use is listed here.
 */
const classRepresentatives: readonly (readonly [number, number])[] = [
  [0x334, 1],
  [0x16ff0, 6],
  [0x93c, 7],
  [0x3099, 8],
  [0x94d, 9],
  [0x5b0, 10],
  [0x5b1, 11],
  [0x5b2, 12],
  [0x5b3, 13],
  [0x5b4, 14],
  [0x5b5, 15],
  [0x5b6, 16],
  [0x5b7, 17],
  [0x5b8, 18],
  [0x5b9, 19],
  [0x5bb, 20],
  [0x5bc, 21],
  [0x5bd, 22],
  [0x5bf, 23],
  [0x5c1, 24],
  [0x5c2, 25],
  [0xfb1e, 26],
  [0x64b, 27],
  [0x64c, 28],
  [0x64d, 29],
  [0x64e, 30],
  [0x64f, 31],
  [0x650, 32],
  [0x651, 33],
  [0x652, 34],
  [0x670, 35],
  [0x711, 36],
  [0xc55, 84],
  [0xc56, 91],
  [0xe38, 103],
  [0xe48, 107],
  [0xeb8, 118],
  [0xec8, 122],
  [0xf71, 129],
  [0xf72, 130],
  [0xf74, 132],
  [0x321, 202],
  [0x1dce, 214],
  [0x31b, 216],
  [0x302a, 218],
  [0x316, 220],
  [0x59a, 222],
  [0x302e, 224],
  [0x1d16d, 226],
  [0x5ae, 228],
  [0x301, 230],
  [0x315, 232],
  [0x35c, 233],
  [0x35d, 234],
  [0x345, 240],
];

/** Whether canonical ordering puts b before a in a·b, so the class of a is greater and that of b is not 0. */
function isSwapped(a: number, b: number): boolean {
  const text = String.fromCodePoint(a, b);
  const decomposed = text.normalize('NFD');
  return decomposed !== text && decomposed === String.fromCodePoint(b, a);
}

export function combiningClass(codePoint: number): number {
  const text = String.fromCodePoint(codePoint);
  if (!/^\p{M}$/u.test(text) || text.normalize('NFD') !== text) return 0;
  const least = classRepresentatives[0]![0];
  const isStarter = !isSwapped(0x345, codePoint) && codePoint !== 0x345;
  if (isStarter) return 0;
  if (!isSwapped(codePoint, least)) return 1;
  return classRepresentatives.find(
    ([other]) => !isSwapped(codePoint, other) && !isSwapped(other, codePoint),
  )![1];
}

function packCombiningClasses(): string {
  let packed = '';
  let previous = 0;
  let start = 0;
  for (let codePoint = 0; codePoint <= codePointLimit; codePoint += 1) {
    const value = codePoint < codePointLimit ? combiningClass(codePoint) : 0;
    if (value === previous) continue;
    packed += packNumber(codePoint - start) + packNumber(value);
    start = codePoint;
    previous = value;
  }
  return packed;
}

function toCodePoints(text: string): number[] {
  return [...text].map((character) => character.codePointAt(0)!);
}

/** Code points that decompose, by their full decomposition; of several, one that recomposes where there is one. */
function indexByDecomposition(): ReadonlyMap<string, number> {
  const index = new Map<string, number>();
  for (let codePoint = 0; codePoint < codePointLimit; codePoint += 1) {
    const whole = String.fromCodePoint(codePoint);
    const full = whole.normalize('NFD');
    if (isHangulSyllable(codePoint) || full === whole) continue;
    if (!index.has(full) || whole.normalize('NFC') === whole) index.set(full, codePoint);
  }
  return index;
}

/** One step of canonical decomposition: [first, second], or [only]; undefined where there is none. */
function decomposeOnce(
  codePoint: number,
  byDecomposition: ReadonlyMap<string, number>,
): readonly number[] | undefined {
  const whole = String.fromCodePoint(codePoint);
  const full = toCodePoints(whole.normalize('NFD'));
  if (isHangulSyllable(codePoint) || (full.length === 1 && full[0] === codePoint)) return undefined;
  if (full.length <= 2) return full;
  // The standard's decompositions are pairs: all but the last code point make up the first part.
  const first = byDecomposition.get(String.fromCodePoint(...full.slice(0, -1)));
  if (first === undefined) throw new Error(`U+${codePoint.toString(16)} is not a pair`);
  return [first, full.at(-1)!];
}

/**
 * Per decomposing code point: 3 · (distance − 1) + kind (0 pair, 1 pair that never composes, 2 singleton), then the
 * signed change of the first part against the mapping before of that sort, and of a pair's second part.
 */
function packDecompositions(): string {
  const byDecomposition = indexByDecomposition();
  let packed = '';
  let previous = -1;
  const last = { single: 0, first: 0, second: 0 };
  for (let codePoint = 0; codePoint < codePointLimit; codePoint += 1) {
    const parts = decomposeOnce(codePoint, byDecomposition);
    if (parts === undefined) continue;
    const [first, second] = parts as [number, number?];
    const whole = String.fromCodePoint(codePoint);
    const kind = second === undefined ? 2 : whole.normalize('NFC') === whole ? 0 : 1;
    packed += packNumber(3 * (codePoint - previous - 1) + kind);
    previous = codePoint;
    if (second === undefined) {
      packed += packSigned(first - last.single);
      last.single = first;
    } else {
      packed += packSigned(first - last.first) + packSigned(second - last.second);
      last.first = first;
      last.second = second;
    }
  }
  return packed;
}

function declare(name: string, packed: string): string {
  // Long lines: nobody reads these, and they count as lines of the engine.
  const lines = packed.match(/.{1,3980}/gs) ?? [];
  return `constexpr std::string_view ${name} =\n${lines.map((line) => `    "${line}"`).join('\n')};\n`;
}

function replaceGenerated(file: URL, generated: string): void {
  const text = readFileSync(file, 'utf8');
  const block = /(\/\/ begin generated\n)[\s\S]*(\/\/ end generated\n)/;
  writeFileSync(
    file,
    text.replace(block, (_, begin: string, end: string) => begin + generated + end),
  );
}

function writeTables(): void {
  const version = `// Unicode ${process.versions.unicode}\n`;
  const classes =
    declare('letter_runs', packRuns(/^\p{L}$/u)) +
    declare('number_runs', packRuns(/^\p{N}$/u)) +
    declare('space_runs', packRuns(/^\p{White_Space}$/u));
  replaceGenerated(new URL('./realizations/portable.cpp', import.meta.url), version + classes);
  const normalization =
    declare('class_runs', packCombiningClasses()) + declare('mappings', packDecompositions());
  replaceGenerated(
    new URL('../text-normalizer/realizations/nfc.cpp', import.meta.url),
    version + normalization,
  );
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) writeTables();
