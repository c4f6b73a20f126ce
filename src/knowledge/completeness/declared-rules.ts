import { tokenizeCpp } from '../../model/cpp-tokens.ts';
import { listDeclarations } from '../change/header-declarations.ts';
import { symbolName } from '../check-contract.ts';
import { type ContractPage, hasWord, type Requirement, requireField } from './requirement.ts';

/** Functions that the header declares and leaves to the realization, and what a class offers. */
export function checkDeclared(page: ContractPage): Requirement[] {
  const { header, frontMatter } = page.loaded.contract;
  const { symbols } = frontMatter.provides;
  const listed = new Set(frontMatter.provides.symbols.map(({ signature }) => symbolName(signature)));
  const declarations = [...listDeclarations(header.text)].filter((text) => !text.startsWith('#'));
  const functions = declarations
    .filter(
      (text) =>
        /\( /.test(text) &&
        !/^(?:struct|class|enum|using|template|inline|constexpr|static|__\w+__)(?!\w)/.test(text),
    )
    .map((text) => /([A-Za-z_]\w*) \(/.exec(text)?.[1] ?? '')
    .filter((name) => name !== '' && !/^(?:static_assert|alignas|__\w+)$/.test(name));
  const types = declarations
    .flatMap(
      (text) =>
        /^(?:struct|class|enum class|enum) (?:alignas \( \d+ \) )?([A-Za-z_]\w*)/.exec(text)?.[1] ?? [],
    )
    .filter((name) => symbols.some(({ signature }) => hasWord(signature, name)));
  const text = `${page.body}\n${frontMatter.provides.symbols.map((symbol) => Object.values(symbol).join(' ')).join('\n')}`;
  return [
    ...[...new Set(functions)].map((name) =>
      requireField(
        page,
        'symbol',
        ['provides', 'symbols'],
        listed.has(name),
        `the header declares ${name}, which no symbol of the front matter describes`,
      ),
    ),
    ...[...new Set(types)].map((name) =>
      requireField(
        page,
        'symbol',
        ['provides', 'symbols'],
        listed.has(name) || hasWord(text, name),
        `signatures have the type ${name}, of which neither front matter nor text says a word`,
      ),
    ),
    ...listMethods(header.text).map((name) =>
      requireField(
        page,
        'method',
        ['provides', 'symbols'],
        hasWord(text, name),
        `the header's class has ${name}, of which neither front matter nor text says a word`,
        'warning',
      ),
    ),
  ];
}

/** Names of the public functions of classes, constructors and operators left out. */
function listMethods(header: string): string[] {
  const names = new Set<string>();
  const tokens = tokenizeCpp(header);
  for (const [at, { text }] of tokens.entries()) {
    if (text !== 'class' || tokens[at - 1]?.text === 'enum') continue;
    let [depth, isPublic] = [0, false];
    for (let index = at + 1; index < tokens.length; index++) {
      const word = tokens[index]!.text;
      if (word === ';' && depth === 0) break;
      if (word === '{' || word === '(') depth++;
      if (word === '}' || word === ')') depth--;
      if (word === '}' && depth === 0) break;
      if (depth !== 1) continue;
      if (word === 'public') isPublic = true;
      if (word === 'private' || word === 'protected') isPublic = false;
      const next = tokens[index + 1];
      const isCall = next?.text === '(' && tokens[index]!.kind === 'identifier';
      const isOwn = ['~', ':', ','].includes(tokens[index - 1]?.text ?? '') || word === tokens[at + 1]?.text;
      if (isPublic && isCall && !isOwn && !/^(?:operator|explicit|decltype|noexcept)$/.test(word))
        names.add(word);
    }
  }
  return [...names];
}
