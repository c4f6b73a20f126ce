/** A seeded generator (mulberry32), so that a failing string can be made again. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}

export const fixedStrings: readonly string[] = [
  '',
  ' ',
  '  ',
  '   x',
  'x   ',
  '\n',
  '\r\n',
  '\r',
  ' \n ',
  '\n\n\n',
  '\t\t x',
  'a\r\nb\r\n\r\nc',
  '\u00a0\u00a0a\u2003b\u3000',
  'a\u0085b \u0085 c',
  '\ufeffBOM \ufeff',
  '0',
  '12',
  '123',
  '1234567890',
  '3333+777',
  ' 42 and 4200',
  '½ ² ٣٤ Ⅷ ①②③ 𝟙𝟚',
  "I'm you're we'll they've he'd it's don't",
  "I'M YOU'RE WE'LL 'S'T'D",
  "'ſ 'ſt it'ſx",
  "'",
  "''s",
  " 's",
  "'sun",
  "can''t",
  '👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈 🇩🇪',
  '漢字かな交じり文',
  '안녕하세요 세계',
  '\u1112\u1161\u11ab\u1100\u1173\u11af',
  'e\u0301 a\u0308\u0323 \u1e9b\u0323',
  '\u212b \u2126 \u00c5',
  'שלום עולם',
  'مرحبا بالعالم ١٢٣',
  'नमस्ते दुनिया',
  'สวัสดีชาวโลก',
  'Việt Nam',
  ' Viet',
  '𝔘𝔫𝔦𝔠𝔬𝔡𝔢',
  '\u0000\u0001\u001f\u007f',
  '<|im_start|>user\nhi<|im_end|>\n',
  '<|begin_of_text|>x<|eot_id|>',
  '<s>[INST] hi [/INST]</s>',
  '<s> <s>a</s>b</s> ',
  '<|endoftext|>',
  ' <|endoftext|> <|endoftext|>',
  '<think>\n\n</think>\n\n',
  '<tool_call>{"a": 1}</tool_call>',
  '<|im_start',
  '<<|im_end|>>',
  '<unk><unk>',
  '<0x0A>',
  '▁',
  '▁▁ ▁',
  ' ▁a',
  'a▁b',
  'Ġhello',
  'https://example.com/a?b=c&d=%20#e',
  'def f(x):\n    return x  # note\n\n\tpass',
  '{"a":[1,2.50e-3,null]}',
  '!!!???...',
  '----====',
  '$1,000.00',
  'x=1;y=2',
  '  \n  \n',
  'a \n',
  'a\n b',
  '\u2028\u2029',
  'naïve café',
  'Ünïcödé',
  'ﬁ ﬀ ﬆ',
  '\u0958\u0959',
  '\ufb2c \ufb49\u05c1',
];

const alphabets: readonly string[] = [
  'abcdefghijklmnopqrstuvwxyz',
  'ABCXYZ  \n',
  '0123456789',
  '  \t\n\r',
  '.,;:!?\'"()[]{}<>|/\\-_=+*&^%$#@~`',
  'éèüößñçåøæ',
  'абвгдеёжз',
  'αβγδεζηθ',
  '的一是不了人我在有他这为之大来以个中上们',
  'あいうえおカキクケコ',
  '가나다라마바사',
  '\u1100\u1161\u11a8\u1112\u1175\u11c2',
  '\u0300\u0301\u0323\u0308\u0345\u05b0\u05bc\u064b\u0651\u093c',
  '👍🏽👩💻\u200d🚀🎉\ufe0f',
  'אבגדהابتثج',
  "''''stmdrevl",
  '\u00a0\u2003\u3000\u0085\ufeff\u200b',
];

const words =
  "the quick brown Fox jumps over it's lazy dogs don't 2024 1,000 function return const Node.js https://x.y <|endoftext|> <s> </s> <think>".split(
    ' ',
  );

/** Strings of words, of one or several alphabets, and of any code points assigned long ago. */
export function randomStrings(count: number, seed: number): string[] {
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  const anyCharacter = (): string => {
    for (;;) {
      const limit = random() < 0.7 ? 0x3000 : 0x1fb00;
      const character = String.fromCodePoint(Math.floor(random() * limit));
      if (/\P{Cn}/u.test(character) && /\P{Cs}/u.test(character)) return character;
    }
  };
  const run = (): string => {
    const characters = [...pick(alphabets)];
    return Array.from({ length: 1 + Math.floor(random() * 8) }, () => pick(characters)).join('');
  };
  return Array.from({ length: count }, (_, index) => {
    const length = 1 + Math.floor(random() * 14);
    const kind = index % 4;
    if (kind === 0) return Array.from({ length }, () => pick(words)).join(pick([' ', ' ', '  ', '\n', '']));
    if (kind === 1) return Array.from({ length }, run).join('');
    if (kind === 2) return Array.from({ length: 3 * length }, anyCharacter).join('');
    return Array.from({ length }, () => (random() < 0.5 ? pick(words) : run())).join(pick(['', ' ']));
  });
}

/** 64 KB inputs, of which the first two would take hours if a merge cost the length of the piece. */
export function largeStrings(): string[] {
  const mixed = randomStrings(1400, 64).join(' ');
  return ['a'.repeat(65536), ' '.repeat(65536), '漢'.repeat(21845), '1'.repeat(65536), mixed];
}
