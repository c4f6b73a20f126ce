import { createHash } from 'node:crypto';

/** A seeded stream of numbers: the same seed and label give the same draws on every machine. */
export class Random {
  private readonly state: Uint32Array;

  constructor(seed: number, label: string) {
    const digest = createHash('sha256').update(`${seed}\n${label}`).digest();
    this.state = new Uint32Array([0, 4, 8, 12].map((at) => digest.readUInt32LE(at)));
  }

  /** xoshiro128** (Blackman, Vigna 2018). */
  u32(): number {
    const s = this.state;
    const [a, b, c, d] = [s[0]!, s[1]!, s[2]!, s[3]!];
    const scrambled = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    s[2] = c ^ a;
    s[3] = d ^ b;
    s[1] = b ^ s[2]!;
    s[0] = a ^ s[3]!;
    s[2] = s[2]! ^ (b << 9);
    s[3] = rotate(s[3]!, 11);
    return scrambled;
  }

  /** Uniform in [0, 1). */
  uniform(): number {
    return this.u32() / 2 ** 32;
  }

  /** Integer in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.uniform() * limit);
  }

  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    return radius * Math.cos(2 * Math.PI * this.uniform());
  }

  ids(count: number, vocabularySize: number): number[] {
    return Array.from({ length: count }, () => this.below(vocabularySize));
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }
}

function rotate(value: number, by: number): number {
  return ((value << by) | (value >>> (32 - by))) >>> 0;
}
