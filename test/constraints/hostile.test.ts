import { expect, it } from 'vitest';
import { read } from './read-case.ts';

/** Files of nearly 64 KB, each made to blow up one part of a parser. */
const hostile: readonly (readonly [string, string])[] = [
  ['thousands of keys', Array.from({ length: 7000 }, (_, index) => `k${index}:`).join('\n')],
  ['thousands of duplicates', 'a: 1\n'.repeat(13_000)],
  [
    'thousands of unknown config keys',
    `model: {config: {${Array.from({ length: 6000 }, (_, index) => `k${index}: 1`).join(', ')}}}`,
  ],
  ['thousands of colons', 'a: '.repeat(20_000)],
  ['thousands of tags', '!a '.repeat(20_000)],
  ['thousands of documents', '---\n'.repeat(15_000)],
  ['thousands of list items', `name: [${'1,'.repeat(30_000)}]`],
  ['thousands of flow lists', '[]'.repeat(30_000)],
  ['thousands of quotes', '"'.repeat(60_000)],
  ['thousands of bad escapes', `name: "${'\\q'.repeat(30_000)}"`],
  ['a quoted text over thousands of lines', `name: "${'a \n'.repeat(20_000)}"`],
  ['thousands of non-breaking spaces', '\u00a0\n'.repeat(20_000)],
  ['a long name', `name: ${'a-'.repeat(30_000)}`],
  ['a long number', `weights: {seed: ${'9'.repeat(60_000)}}`],
  ['a long goal', `goals: {require: {ttft_ms_p50: "<=${' '.repeat(60_000)}1"}}`],
  ['a long model id', `model: {id: "${'q/'.repeat(30_000)}"}`],
];

it.each(hostile)('answers %s within four seconds of CPU time and with at most 51 problems', (_, text) => {
  const start = process.cpuUsage();
  const { problems, constraints } = read(text);
  const { user, system } = process.cpuUsage(start);
  expect(user + system).toBeLessThan(4e6);
  expect(constraints).toBeUndefined();
  expect(problems.length).toBeLessThanOrEqual(51);
});
