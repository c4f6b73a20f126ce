import type { Problem } from '../../model/problem.ts';
import { symbolName } from '../check-contract.ts';
import type { LoadedContract } from '../contract-folder.ts';

const dtypes = 'f64|f32|bf16|f16|i64|i32|u32|u8';

/** A shape or number format that the header's comments give a parameter. */
interface Remark {
  readonly parameter: string;
  readonly shape: string;
  readonly dtype: string | undefined;
  /** Offset in the header. */
  readonly at: number;
}

/** Shapes and number formats in the comments of a header are those of the front matter. */
export function checkHeaderComments({ contract }: LoadedContract): Problem[] {
  const { header, frontMatter, folder } = contract;
  return frontMatter.provides.symbols.flatMap(({ signature, shapes, dtypes: stated }) =>
    remarksOf(header.text, symbolName(signature)).flatMap(({ parameter, shape, dtype, at }): Problem[] => {
      const wanted = shapes?.[parameter]?.join(', ');
      const format = stated?.[parameter];
      const line = header.text.slice(0, at).split('\n').length;
      const tell = (found: string, expected: string): Problem => {
        const message = `${parameter} is ${found} here and ${expected} in contract.md`;
        const file = `contracts/${folder}/${header.name}`;
        return { severity: 'error', code: 'header-contradicts', file, line, message };
      };
      return [
        ...(wanted !== undefined && squeeze(wanted) !== squeeze(shape)
          ? [tell(`[${shape}]`, `[${wanted}]`)]
          : []),
        ...(dtype !== undefined && format !== undefined && isOther(format, dtype)
          ? [tell(dtype, format)]
          : []),
      ];
    }),
  );
}

/** `weight.out`, `size of rows` and `out`, `rows` are the same dimension. */
function squeeze(shape: string): string {
  return shape
    .replace(/size of /g, '')
    .replace(/[\s`"]/g, '')
    .replace(/\b[a-z_]\w*\.(?=[a-z_])/g, '')
    .replaceAll('·', '*');
}

/** Front matter may say more than a name ("stored in numerics.weights"): then nothing can be compared. */
function isOther(format: string, dtype: string): boolean {
  return new RegExp(`^(?:${dtypes})$`).test(format) && format !== dtype;
}

/** `View out /*[rows, n] f32*\/` inside the declaration, `logits: [vocab_size] f32` in the comment above it. */
function remarksOf(header: string, name: string): Remark[] {
  const declared = new RegExp(String.raw`^[^\n/]*\b${name}\s*\(`, 'm').exec(header);
  if (declared === null) return [];
  const close = declarationEnd(header, declared.index);
  const start = commentStart(header, declared.index);
  const inside = String.raw`(\w+)\s*\/\*\s*\[([^\]\n]*)\]\s*(${dtypes})?\s*\*\/`;
  const before = String.raw`\b(\w+): \[([^\]\n]*)\](?:\s+(${dtypes})\b)?`;
  return [
    ...matches(header, inside, declared.index, close),
    ...matches(header, before, start, declared.index),
  ];
}

function declarationEnd(header: string, from: number): number {
  const end = header.slice(from).search(/[;{]/);
  return end < 0 ? header.length : from + end;
}

/** Where the comment lines begin that stand directly above an offset. */
function commentStart(header: string, at: number): number {
  const lines = header.slice(0, at).split('\n').slice(0, -1);
  let start = at;
  for (let line = lines.pop(); line?.startsWith('//'); line = lines.pop()) start -= line.length + 1;
  return start;
}

function matches(text: string, pattern: string, from: number, to: number): Remark[] {
  return [...text.slice(from, to).matchAll(new RegExp(pattern, 'g'))].map((match) => ({
    parameter: match[1]!,
    shape: match[2]!,
    dtype: match[3],
    at: from + match.index,
  }));
}
