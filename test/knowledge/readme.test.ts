import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../knowledge/', import.meta.url);
const readme = readFileSync(new URL('README.md', root), 'utf8');

test('the table of knowledge/README.md names every contract folder once, by its id, and no other', () => {
  const listed = [...readme.matchAll(/^\| \[([^\]]+)\]\(contracts\/([^/]+)\/contract\.md\) \|/gm)];
  const folders = readdirSync(new URL('contracts/', root)).sort();
  expect(listed.map((row) => row[2]).sort()).toEqual(folders);
  for (const [, id, folder] of listed) expect(id).toBe(folder?.replace('-', '.'));
});
