import type { TokenizerFacts } from './model-facts.ts';
import type { Problem } from './problem.ts';
import {
  byteToken,
  isObject,
  isSame,
  type Json,
  recognisePrefix,
  recognisePreTokenizer,
  spaceMark,
} from './tokenizer-parts.ts';

type Report = (path: string, message: string) => void;

/**
 * Which contracts a tokenizer.json needs. Every part is recognised exactly; any other is a problem that names it.
 * `truncation` and `padding` are left alone: transformers resets both on every call. `undefined` (no file): no tokenizer.
 */
export function readTokenizerFacts(tokenizerJson: unknown): {
  facts?: TokenizerFacts;
  problems: Problem[];
} {
  if (tokenizerJson === undefined) {
    return { facts: { model: 'none', preTokenizer: 'none', normalizer: 'none' }, problems: [] };
  }
  const problems: Problem[] = [];
  const report: Report = (path, message) => {
    problems.push({ severity: 'error', code: 'tokenizer-unsupported', path, message });
  };
  const facts = readParts(tokenizerJson, report);
  return facts === undefined || problems.length > 0 ? { problems } : { facts, problems };
}

function readParts(root: unknown, report: Report): TokenizerFacts | undefined {
  if (!isObject(root)) {
    report('', 'expected a JSON object');
    return undefined;
  }
  const parts =
    'version truncation padding added_tokens normalizer pre_tokenizer post_processor decoder model';
  checkKeys(root, '', parts, report);
  if (root.version !== '1.0') report('version', `${show(root.version)} is not implemented; expected "1.0"`);
  checkAddedTokens(root.added_tokens, report);
  checkPostProcessor(root.post_processor, 'post_processor', report);
  if (!isObject(root.model)) {
    report('model', `${show(root.model)} is not implemented; expected BPE`);
    return undefined;
  }
  checkModel(root.model, report);
  return root.model.byte_fallback === true
    ? readSentencePiece(root, root.model, report)
    : readByteLevel(root, root.model, report);
}

function checkModel(model: Json, report: Report): void {
  const keys =
    'type dropout unk_token continuing_subword_prefix end_of_word_suffix fuse_unk byte_fallback ignore_merges vocab merges';
  if (model.type !== 'BPE') {
    report('model.type', `${show(model.type)} is not implemented; expected "BPE"`);
    return;
  }
  checkKeys(model, 'model', keys, report);
  expectEmpty(model, 'dropout', [undefined, null], report);
  expectEmpty(model, 'continuing_subword_prefix', [undefined, null, ''], report);
  expectEmpty(model, 'end_of_word_suffix', [undefined, null, ''], report);
  for (const key of ['fuse_unk', 'byte_fallback', 'ignore_merges']) {
    if (!isFlag(model[key])) report(`model.${key}`, `expected true or false, found ${show(model[key])}`);
  }
  checkVocabulary(model, report);
}

function expectEmpty(model: Json, key: string, allowed: readonly unknown[], report: Report): void {
  if (!allowed.includes(model[key])) report(`model.${key}`, `${show(model[key])} is not implemented`);
}

function checkVocabulary(model: Json, report: Report): void {
  const { vocab, merges } = model;
  if (!isObject(vocab)) report('model.vocab', `expected an object, found ${show(vocab)}`);
  else {
    const bad = Object.entries(vocab).find(([, id]) => !isTokenId(id));
    if (bad !== undefined) report('model.vocab', `the id of ${show(bad[0])} is ${show(bad[1])}`);
  }
  if (!Array.isArray(merges)) {
    report('model.merges', `expected a list, found ${show(merges)}`);
    return;
  }
  const index = merges.findIndex((merge) => !isMerge(merge, isObject(vocab) ? vocab : {}));
  if (index < 0) return;
  const expected =
    'expected "left right" or ["left", "right"], both and their concatenation in the vocabulary';
  report('model.merges', `entry ${index} is ${show(merges[index])}; ${expected}`);
}

function isMerge(merge: unknown, vocab: Json): boolean {
  const parts: unknown = typeof merge === 'string' ? merge.split(' ') : merge;
  if (!Array.isArray(parts) || parts.length !== 2) return false;
  const [left, right] = parts as unknown[];
  if (typeof left !== 'string' || typeof right !== 'string') return false;
  return Object.hasOwn(vocab, left) && Object.hasOwn(vocab, right) && Object.hasOwn(vocab, left + right);
}

function checkAddedTokens(tokens: unknown, report: Report): void {
  if (!Array.isArray(tokens)) {
    report('added_tokens', `expected a list, found ${show(tokens)}`);
    return;
  }
  for (const [index, token] of (tokens as unknown[]).entries()) {
    const path = `added_tokens[${index}]`;
    if (
      !isObject(token) ||
      typeof token.content !== 'string' ||
      token.content === '' ||
      !isTokenId(token.id)
    ) {
      report(path, `expected an id and a content that isn't empty, found ${show(token)}`);
      continue;
    }
    checkKeys(token, path, 'id content single_word lstrip rstrip normalized special', report);
    for (const key of ['single_word', 'lstrip', 'rstrip']) {
      if (token[key] !== undefined && token[key] !== false) {
        report(`${path}.${key}`, `${show(token[key])} is not implemented (token ${show(token.content)})`);
      }
    }
  }
}

/** ByteLevel (which only trims offsets), a TemplateProcessing with tokens around A, or a sequence of these. */
function checkPostProcessor(processor: unknown, path: string, report: Report): void {
  if (processor === null || processor === undefined) return;
  const type = typeOf(processor);
  if (type === 'Sequence' && isObject(processor) && Array.isArray(processor.processors)) {
    for (const [index, part] of processor.processors.entries()) {
      checkPostProcessor(part, `${path}.processors[${index}]`, report);
    }
  } else if (type === 'TemplateProcessing' && isObject(processor)) {
    checkTemplate(processor, path, report);
  } else if (type !== 'ByteLevel') {
    report(path, `${show(type)} is not implemented; expected ByteLevel, TemplateProcessing or Sequence`);
  }
}

function checkTemplate(processor: Json, path: string, report: Report): void {
  const single = Array.isArray(processor.single) ? (processor.single as unknown[]) : [];
  const special = isObject(processor.special_tokens) ? processor.special_tokens : {};
  const sequences = single.filter(
    (part) => isObject(part) && isObject(part.Sequence) && part.Sequence.id === 'A',
  );
  const isKnown = (part: unknown): boolean => {
    if (!isObject(part) || !isObject(part.SpecialToken)) return false;
    const token = special[String(part.SpecialToken.id)];
    return isObject(token) && Array.isArray(token.ids) && token.ids.every(isTokenId);
  };
  if (sequences.length !== 1 || !single.every((part) => sequences.includes(part) || isKnown(part))) {
    report(
      `${path}.single`,
      `expected special tokens around one sequence A, found ${show(processor.single)}`,
    );
  }
}

function readByteLevel(root: Json, model: Json, report: Report): TokenizerFacts | undefined {
  const preTokenizer = recognisePreTokenizer(root.pre_tokenizer);
  if (preTokenizer === undefined) {
    const expected =
      'the ByteLevel pattern (GPT-2), Digits + ByteLevel (SmolLM2), or the Qwen-2 or Llama-3 Split';
    report(
      'pre_tokenizer',
      `${show(root.pre_tokenizer)} is not implemented for byte-level BPE; expected ${expected}`,
    );
  }
  if (typeOf(root.decoder) !== 'ByteLevel') {
    report('decoder', `${show(root.decoder)} is not implemented for byte-level BPE; expected ByteLevel`);
  }
  const isNfc = isObject(root.normalizer) && typeOf(root.normalizer) === 'NFC';
  if (!isNfc && root.normalizer !== null && root.normalizer !== undefined) {
    report(
      'normalizer',
      `${show(root.normalizer)} is not implemented for byte-level BPE; expected NFC or null`,
    );
  }
  if (typeof model.unk_token === 'string' && lacksBytes(model.vocab)) {
    report(
      'model.unk_token',
      `${show(model.unk_token)} would stand for bytes that the vocabulary lacks: not implemented`,
    );
  }
  if (preTokenizer === undefined) return undefined;
  return { model: 'byte_level_bpe', preTokenizer, normalizer: isNfc ? 'nfc' : 'none' };
}

function lacksBytes(vocab: unknown): boolean {
  const isPrintable = (code: number): boolean => (code > 32 && code < 127) || (code > 160 && code !== 173);
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCharCode(isPrintable(byte) ? byte : next++),
  ).some((character) => !isObject(vocab) || !Object.hasOwn(vocab, character));
}

function readSentencePiece(root: Json, model: Json, report: Report): TokenizerFacts {
  if (model.ignore_merges === true)
    report('model.ignore_merges', 'true is not implemented with byte_fallback');
  const vocab = isObject(model.vocab) ? model.vocab : {};
  const missing = Array.from({ length: 256 }, (_, byte) => byteToken(byte)).find(
    (name) => !Object.hasOwn(vocab, name),
  );
  if (missing !== undefined)
    report('model.vocab', `byte_fallback without the token ${missing} is not implemented`);
  const prefix = recognisePrefix(root.normalizer, root.pre_tokenizer);
  if (prefix === undefined) {
    const found = `normalizer ${show(root.normalizer)} with pre_tokenizer ${show(root.pre_tokenizer)}`;
    report(
      'normalizer',
      `${found} is not implemented for SentencePiece BPE; expected Prepend + Replace, or Metaspace`,
    );
  }
  const decoders =
    isObject(root.decoder) && Array.isArray(root.decoder.decoders) ? root.decoder.decoders : [];
  const expected = [
    { type: 'Replace', pattern: { String: spaceMark }, content: ' ' },
    { type: 'ByteFallback' },
    { type: 'Fuse' },
    { type: 'Strip', content: ' ', start: 1, stop: 0 },
  ];
  const isKnown =
    decoders.length >= 3 &&
    decoders.length <= 4 &&
    decoders.every((part, index) => isSame(part, expected[index]));
  if (!isKnown) report('decoder', `${show(root.decoder)} is not implemented for SentencePiece BPE`);
  return { model: 'sentencepiece_bpe', preTokenizer: 'none', normalizer: 'none' };
}

function isFlag(value: unknown): boolean {
  return value === undefined || typeof value === 'boolean';
}

function isTokenId(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 1 << 24;
}

function typeOf(part: unknown): unknown {
  return isObject(part) ? part.type : part;
}

function checkKeys(part: Json, path: string, keys: string, report: Report): void {
  for (const key of Object.keys(part)) {
    if (keys.split(' ').includes(key)) continue;
    report(path === '' ? key : `${path}.${key}`, 'unknown key: it may change the token ids');
  }
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
