import type { Problem } from '../../model/problem.ts';
import { pageProblem } from '../contract-folder.ts';
import type { KnowledgeChange } from './knowledge-side.ts';
import { type BumpLevel, bumpLevels, requiredBump } from './required-bump.ts';

type Version = readonly [number, number, number];

/** The version of each changed contract rises as far as its change asks for. */
export function checkVersions({ before, after }: KnowledgeChange): Problem[] {
  return [...after.contracts].flatMap(([id, loaded]) => {
    const old = before.contracts.get(id);
    if (old === undefined) return [];
    const file = `contracts/${loaded.contract.folder}/contract.md`;
    const [was, is] = [old.contract.frontMatter.version, loaded.contract.frontMatter.version];
    const needed = requiredBump(
      { loaded: old, page: before.tree.get(file)?.text ?? '' },
      { loaded, page: after.tree.get(file)?.text ?? '' },
    );
    const [from, to] = [parseVersion(was), parseVersion(is)];
    const suggestion = `Write \`version: ${raise(from, needed.level)}\`.`;
    if (isLower(to, from)) {
      const message = `the version falls from ${was} to ${is}; versions only rise`;
      return [{ ...pageProblem(loaded, 'version-falls', ['version'], message), suggestion }];
    }
    if (bumpLevels.indexOf(levelOf(from, to)) >= bumpLevels.indexOf(needed.level)) return [];
    const message = `${was} to ${is} is too small a step: ${needed.because.slice(0, 3).join('; ')} changed, which is a ${needed.level} change`;
    return [{ ...pageProblem(loaded, 'version-too-low', ['version'], message), suggestion }];
  });
}

function parseVersion(written: string): Version {
  const [major = 0, minor = 0, patch = 0] = written.split('.').map(Number);
  return [major, minor, patch];
}

function isLower(a: Version, b: Version): boolean {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at >= 0 && a[at]! < b[at]!;
}

function levelOf(from: Version, to: Version): BumpLevel {
  if (to[0] > from[0]) return 'major';
  if (to[1] > from[1]) return 'minor';
  return to[2] > from[2] ? 'patch' : 'none';
}

function raise([major, minor, patch]: Version, level: BumpLevel): string {
  if (level === 'major') return `${major + 1}.0.0`;
  if (level === 'minor') return `${major}.${minor + 1}.0`;
  return level === 'patch' ? `${major}.${minor}.${patch + 1}` : `${major}.${minor}.${patch}`;
}
