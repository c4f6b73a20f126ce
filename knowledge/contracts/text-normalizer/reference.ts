import type { TokenizerFacts } from '../../../src/model/model-facts.ts';
import type { ReferenceOps } from '../../../src/model/reference.ts';
import { inputOf, tensor } from '../../../src/model/reference-case.ts';

export function normalizeText(text: string, normalizer: TokenizerFacts['normalizer']): string {
  return normalizer === 'nfc' ? text.normalize('NFC') : text;
}

export const ops: ReferenceOps = {
  normalize: (unit) => {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
      Uint8Array.from(inputOf(unit, 'text').data),
    );
    const bytes = new TextEncoder().encode(normalizeText(text, unit.tokenizer!.normalizer));
    return { text: tensor([bytes.length], bytes) };
  },
};
