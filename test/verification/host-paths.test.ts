import { expect, test } from 'vitest';
import { withoutHostPaths } from '../../src/verification/host-paths.ts';

const folders = ['/home/jo hn/engines/secret', '/home/jo hn/cache/objects'];

test.each([
  ['/home/jo hn/engines/secret/a.cpp:3:1: error: x', 'a.cpp:3:1: error: x'],
  ["cannot find '/home/jo hn/engines/secret'", "cannot find '.'"],
  ['in /home/jo hn/cache/objects/verify-1/b.o', 'in verify-1/b.o'],
  ['/home/ada/x/y.h: No such file', 'y.h: No such file'],
  ['(/tmp/b4/objects/12ab.bin+0x1f)', '(12ab.bin+0x1f)'],
  ['/home/ada/models/tiny-missing: not there', 'tiny-missing: not there'],
  ['/usr/include/c++/12/string:53: note', '/usr/include/c++/12/string:53: note'],
  ['a/b/c, 3 / 4 / 5, http://x.y/z/w, ../up/one', 'a/b/c, 3 / 4 / 5, http://x.y/z/w, ../up/one'],
  ['/home/jo hn/engines/secretary/a.cpp', 'jo hn/engines/secretary/a.cpp'],
])('%j is shown as %j', (text, shown) => {
  expect(withoutHostPaths(text, folders)).toBe(shown);
});
