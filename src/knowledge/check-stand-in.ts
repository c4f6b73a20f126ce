import { tokenizeCpp } from '../model/cpp-tokens.ts';
import type { Problem } from '../model/problem.ts';
import { type LoadedContract, pageProblem } from './contract-folder.ts';

/** A contract that stands for another one declares the same, so that who requires that one compiles with either. */
export function checkStandIn(entry: LoadedContract, byId: ReadonlyMap<string, LoadedContract>): Problem[] {
  const { stands_for: replaced, applies_when: appliesWhen } = entry.contract.frontMatter;
  if (replaced === undefined) return [];
  const report = (path: string, message: string) => [pageProblem(entry, 'stand-in', [path], message)];
  const other = byId.get(replaced)?.contract;
  if (other === undefined) return report('stands_for', `there is no contract ${replaced}`);
  if (other.frontMatter.stands_for !== undefined)
    return report(
      'stands_for',
      `${replaced} itself stands for ${other.frontMatter.stands_for}; name that one`,
    );
  if (Object.keys(appliesWhen).length === 0)
    return report('applies_when', `always holds, so that ${replaced} would never be used`);
  const [own, wanted] = [entry.contract, other].map(({ header }) => declarations(header.text));
  if (own === wanted) return [];
  const file = `contracts/${entry.contract.folder}/${entry.contract.header.name}`;
  const message = `declares something else than the header of ${replaced}, which it stands for`;
  return [{ severity: 'error', code: 'stand-in', file, line: 1, message }];
}

/** A header without its comments and includes. */
function declarations(text: string): string {
  const code = text.replace(/^#.*$/gm, '');
  return tokenizeCpp(code)
    .map((token) => token.text)
    .join(' ');
}
