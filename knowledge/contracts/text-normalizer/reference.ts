import type { TokenizerFacts } from '../../../src/model/model-facts.ts';
import type { ReferenceOps } from '../../../src/model/reference.ts';
import { inputOf, tensor } from '../../../src/model/reference-case.ts';

export function normalizeText(text: string, normalizer: TokenizerFacts['normalizer']): string {
  return normalizer === 'nfc' ? text.normalize('NFC') : text;
}

export const ops: ReferenceOps = {
  normalize: (unit) => {
    const { tokenizer } = unit;
    if (tokenizer === undefined) throw new Error('the unit gate must pass the engine’s tokenizer facts');
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
      Uint8Array.from(inputOf(unit, 'text').data),
    );
    const bytes = new TextEncoder().encode(normalizeText(text, tokenizer.normalizer));
    return { text: tensor([bytes.length], bytes) };
  },
};
