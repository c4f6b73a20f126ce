import type { Random } from '../random.ts';

/** Pieces on which tokenizers go wrong: digit runs, white space, line ends, marks, joined emoji, contractions, bytes. */
const pieces = [
  ...[
    'Hello',
    'world',
    ' the',
    "don't",
    "I'LL we'Ve",
    'naïve',
    'Straße',
    'ﬁne',
    'ÅngstrÖm',
    'ＦＵＬＬ',
    'ǅ',
    'İstanbul',
  ],
  ...[
    '0',
    '7',
    '42',
    '123',
    '1234',
    '12345678901',
    '3.14159',
    '1,000,000',
    '٣٤٥',
    '½',
    '²³',
    'Ⅷ',
    '0x1F',
    '1e-9',
  ],
  ...[
    ' ',
    '  ',
    '   ',
    '\t',
    '\t\t ',
    '\n',
    '\n\n',
    '\r\n',
    '\r',
    ' \n ',
    '\u00a0',
    '\u3000',
    '\u200b',
    '\u2028',
    '\u0085',
  ],
  ...[
    '.',
    '...',
    '!?',
    '--',
    '___',
    '(a)',
    '[b]',
    '{c}',
    '"q"',
    '`code`',
    '/* x */',
    '#include <a>',
    '€',
    '£5',
    '°C',
    '→',
  ],
  ...['日本語', '中文分词', '한국어', 'русский', 'ελληνικά', 'עברית', 'العربية', 'हिन्दी', 'ไทย', 'தமிழ்'],
  ...[
    '🙂',
    '👨‍👩‍👧‍👦',
    '🏳️‍🌈',
    '🇩🇪',
    '👍🏽',
    '𝒳',
    '𐍈',
    '\u{10ffff}',
    '\ufeff',
    '\ufffd',
    '\u0000',
    '\u0007',
    '\u001b[0m',
  ],
  ...['e\u0301', 'a\u0308\u0323', '\u0301', 'Å', '\u212b', '가', '\u1100\u1161', 'ẛ̣', '\u0f73', '\u0344'],
] as const;

function randomCharacter(random: Random): string {
  const ranges = [0x80, 0x800, 0x3000, 0xd800, 0x10000, 0x110000];
  const limit = random.pick(ranges);
  const point = random.below(limit);
  return point >= 0xd800 && point < 0xe000 ? '?' : String.fromCodePoint(point);
}

/** One string of one to a few dozen pieces; `specials` are written out in it now and then. */
export function drawText(random: Random, specials: readonly string[]): string {
  const count = 1 + random.below(random.pick([2, 6, 30]));
  return Array.from({ length: count }, () => {
    const kind = random.below(12);
    if (kind === 0 && specials.length > 0) return random.pick(specials);
    if (kind === 1) return randomCharacter(random);
    if (kind === 2) return random.pick(pieces).repeat(1 + random.below(5));
    return random.pick(pieces);
  }).join('');
}

/** Strings that every run has. */
export const fixedTexts: readonly string[] = [
  '',
  ' ',
  '\n',
  'a',
  ' a',
  'a ',
  'The quick brown fox',
  pieces.join(''),
  pieces.join(' '),
];
