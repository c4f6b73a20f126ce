import type { TokenizerFacts } from '../../../src/model/model-facts.ts';
import type { ReferenceOps } from '../../../src/model/reference.ts';
import { inputOf, tensor } from '../../../src/model/reference-case.ts';

// Rust's regex engines read \s as White_Space; JavaScript's own \s has U+FEFF and lacks U+0085.
const space = String.raw`\p{White_Space}`;
const other = String.raw`[^\p{White_Space}\p{L}\p{N}]`;
const spaceRun = String.raw`${space}+(?!\P{White_Space})|${space}+`;
const gpt2 = new RegExp(String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?${other}+|${spaceRun}`, 'gu');

/** The pattern of Qwen-2 and Llama-3, which differ in how many digits go together. U+017F folds to s. */
function splitPattern(digits: string): RegExp {
  const contraction = `'(?:[sS\u017f]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])`;
  const word = String.raw`[^\r\n\p{L}\p{N}]?\p{L}+`;
  const marks = String.raw` ?${other}+[\r\n]*|${space}*[\r\n]+`;
  return new RegExp(`${contraction}|${word}|${digits}|${marks}|${spaceRun}`, 'gu');
}
const qwen2 = splitPattern(String.raw`\p{N}`);
const llama3 = splitPattern(String.raw`\p{N}{1,3}`);

/** The pieces of a text, in order; joined, they are the text. */
export function splitPieces(text: string, preTokenizer: TokenizerFacts['preTokenizer']): string[] {
  switch (preTokenizer) {
    case 'gpt2':
      return text.match(gpt2) ?? [];
    case 'smollm2':
      return (text.match(/\p{N}|\P{N}+/gu) ?? []).flatMap((part) => part.match(gpt2) ?? []);
    case 'qwen2':
      return text.match(qwen2) ?? [];
    case 'llama3':
      return text.match(llama3) ?? [];
    case 'none':
      return text === '' ? [] : [text];
  }
}

export const ops: ReferenceOps = {
  piece_ends: (unit) => {
    const { tokenizer } = unit;
    if (tokenizer === undefined) throw new Error('the unit gate must pass the engine’s tokenizer facts');
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
      Uint8Array.from(inputOf(unit, 'text').data),
    );
    let end = 0;
    const ends = splitPieces(text, tokenizer.preTokenizer).map((piece) => {
      end += Buffer.byteLength(piece);
      return end;
    });
    return { ends: tensor([ends.length], Int32Array.from(ends)) };
  },
};
