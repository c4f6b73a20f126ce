import { checkDeclared } from './declared-rules.ts';
import { checkFunction, isSaid, type StatedSymbol } from './function-rules.ts';
import { type ContractPage, type Requirement, requireField } from './requirement.ts';
import { parseSignature, type Signature } from './signature.ts';

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

function checkErrors(
  page: ContractPage,
  { errors }: StatedSymbol,
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

/** A struct that owns or points at elements says how they lie; one that is only declared, what one may rely on. */
function checkType(
  page: ContractPage,
  symbol: StatedSymbol,
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
