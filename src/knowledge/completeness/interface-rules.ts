import { isConfigConstant } from '../../model/config-constants.ts';
import { tokenizeCpp } from '../../model/cpp-tokens.ts';
import { listDeclarations } from '../change/header-declarations.ts';
import { symbolName } from '../check-contract.ts';
import { type ContractPage, hasWord, type Requirement, requireField } from './requirement.ts';
import { parseSignature, type Signature, writtenParameters } from './signature.ts';

type Stated = ContractPage['loaded']['contract']['frontMatter']['provides']['symbols'][number];

/** What the front matter must say of every symbol of the header. */
export function checkInterface(page: ContractPage): Requirement[] {
  const { symbols } = page.loaded.contract.frontMatter.provides;
  return [
    ...checkDeclared(page),
    ...symbols.flatMap((symbol, index) => {
      const signature = parseSignature(symbol.signature);
      const at = ['provides', 'symbols', index];
      return [
        ...checkErrors(page, symbol, signature, at),
        ...(signature.isFunction
          ? checkFunction(page, symbol, signature, at)
          : checkType(page, symbol, signature, at)),
      ];
    }),
  ];
}

/** Functions that the header declares and leaves to the realization, and what a class offers. */
function checkDeclared(page: ContractPage): Requirement[] {
  const { header, frontMatter } = page.loaded.contract;
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

function checkErrors(
  page: ContractPage,
  { errors }: Stated,
  { name }: Signature,
  at: (string | number)[],
): Requirement[] {
  const path = [...at, 'errors'];
  const bare = errors.replace(/\b(?:EngineError|error|exception|std::\w+)\b/g, '').trim();
  return [
    requireField(
      page,
      'errors',
      path,
      errors.trim() !== '',
      `what ${name} does about errors is not said; write "none" where it has none`,
    ),
    ...(/EngineError/.test(errors)
      ? [
          requireField(
            page,
            'errors',
            path,
            /\w{3}/.test(bare),
            `when ${name} throws EngineError is not said`,
          ),
        ]
      : []),
  ];
}

function checkFunction(
  page: ContractPage,
  symbol: Stated,
  signature: Signature,
  at: (string | number)[],
): Requirement[] {
  const { name, parameters, isInline } = signature;
  const ask = (
    rule: string,
    key: string,
    isMet: boolean,
    missing: string,
    severity?: 'warning',
  ): Requirement => requireField(page, rule, [...at, key], isMet, missing, severity);
  const tensors = isInline ? [] : parameters.filter(({ isTensor }) => isTensor);
  const isByRows = parameters.some((parameter) => parameter.name === 'num_rows');
  const needsAliasing =
    writtenParameters(signature).length > 0 && (tensors.length > 1 || isByRows) && !isInline;
  return [
    ...tensors.map((tensor) =>
      ask(
        'shape',
        'shapes',
        symbol.shapes?.[tensor.name] !== undefined,
        `the shape of ${tensor.name} in ${name} is not said`,
        // A span carries its length.
        ...(tensor.type.startsWith('std::span') ? (['warning'] as const) : []),
      ),
    ),
    ...tensors
      .filter(({ isUntyped }) => isUntyped)
      .map((tensor) =>
        ask(
          'dtype',
          'dtypes',
          symbol.dtypes?.[tensor.name] !== undefined,
          `the number format of ${tensor.name} in ${name} is not said`,
        ),
      ),
    ...(needsAliasing
      ? [
          ask(
            'aliasing',
            'aliasing',
            isSaid(symbol.aliasing),
            `which arguments of ${name} may overlap is not said`,
          ),
        ]
      : []),
    ...(isByRows
      ? [
          ask(
            'threads',
            'threads',
            isSaid(symbol.threads),
            `who calls ${name}, and what it does with the pool, is not said`,
          ),
        ]
      : []),
    ...checkConstants(page, symbol, signature, at),
  ];
}

/** Dimensions by the names of config.h are constants that the contract lists. */
function checkConstants(
  page: ContractPage,
  { shapes }: Stated,
  { name, parameters }: Signature,
  at: (string | number)[],
): Requirement[] {
  const { config } = page.loaded.contract.frontMatter;
  const carriesLength = (key: string) =>
    parameters.some((parameter) => parameter.name === key && parameter.type.startsWith('std::span'));
  const words = Object.entries(shapes ?? {})
    .filter(([key]) => !carriesLength(key))
    .flatMap(([, dimensions]) => dimensions)
    .flatMap((dimension) => String(dimension).match(/[a-z][a-z_]*[a-z]/g) ?? []);
  return [...new Set(words)]
    .filter(isConfigConstant)
    .map((word) =>
      requireField(
        page,
        'constant',
        [...at, 'shapes'],
        config.includes(word),
        `${word} in a shape of ${name} is a constant that config does not list`,
      ),
    );
}

/** A struct that owns or points at elements says how they lie; one that is only declared, what one may rely on. */
function checkType(
  page: ContractPage,
  symbol: Stated,
  { name }: Signature,
  at: (string | number)[],
): Requirement[] {
  if (!/^struct\b/.test(symbol.signature)) return [];
  const body = bodyOf(page.loaded.contract.header.text, name);
  const hasElements =
    body !== undefined &&
    !/\boperator\b/.test(body) &&
    /\b(?:void|float|uint8_t|uint16_t|std::byte)\s*\*|\bMemory\s+\w|\bLinear\s+\w/.test(body);
  if (body !== undefined && !hasElements) return [];
  return [
    requireField(
      page,
      'layout',
      [...at, 'layout'],
      isSaid(symbol.layout) || (body === undefined && isSaid(symbol.threads)),
      `how the elements of ${name} lie is not said; "opaque" where nobody may look`,
    ),
  ];
}

/** Data members as written, or undefined where the header only declares the type. */
function bodyOf(header: string, name: string): string | undefined {
  const head = new RegExp(`\\b(?:struct|class)\\s+${name}\\b[^;{]*\\{`).exec(header);
  if (head === null) return undefined;
  const open = head.index + head[0].length;
  const end = header.slice(open).search(/^\};/m);
  return header.slice(open, end < 0 ? undefined : open + end);
}

function isSaid(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== '';
}
