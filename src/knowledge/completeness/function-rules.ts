import { isConfigConstant } from '../../model/config-constants.ts';
import { type ContractPage, type Requirement, requireField } from './requirement.ts';
import { type Signature, writtenParameters } from './signature.ts';

export type StatedSymbol = ContractPage['loaded']['contract']['frontMatter']['provides']['symbols'][number];

export function isSaid(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== '';
}

interface StatedFunction {
  readonly page: ContractPage;
  readonly symbol: StatedSymbol;
  readonly signature: Signature;
  /** Of the symbol in the front matter. */
  readonly at: (string | number)[];
}

/** Shapes, number formats, overlap, threads and constants of one function. What is inline can be read in the header. */
export function checkFunction(
  page: ContractPage,
  symbol: StatedSymbol,
  signature: Signature,
  at: (string | number)[],
): Requirement[] {
  const stated = { page, symbol, signature, at };
  if (signature.isInline) return checkConstants(stated);
  return [
    ...checkTensors(stated),
    ...checkReturned(stated),
    ...checkCalls(stated),
    ...checkConstants(stated),
  ];
}

function ask(
  { page, at }: StatedFunction,
  key: 'shapes' | 'dtypes' | 'aliasing' | 'threads',
  isMet: boolean,
  missing: string,
  severity?: 'warning',
): Requirement {
  const rule = { shapes: 'shape', dtypes: 'dtype', aliasing: 'aliasing', threads: 'threads' }[key];
  return requireField(page, rule, [...at, key], isMet, missing, severity);
}

function checkTensors(stated: StatedFunction): Requirement[] {
  const { symbol, signature } = stated;
  return signature.parameters
    .filter(({ isTensor }) => isTensor)
    .flatMap(({ name, type, isUntyped }) => {
      const what = `${name} in ${signature.name}`;
      // A span carries its length.
      const severity = type.startsWith('std::span') ? 'warning' : undefined;
      const hasShape = symbol.shapes?.[name] !== undefined;
      const hasFormat = symbol.dtypes?.[name] !== undefined;
      return [
        ask(stated, 'shapes', hasShape, `the shape of ${what} is not said`, severity),
        ...(isUntyped ? [ask(stated, 'dtypes', hasFormat, `the number format of ${what} is not said`)] : []),
      ];
    });
}

/** A function that reads tensors of a checkpoint says which, how large and in which format; a pointer, what it points at. */
function checkReturned(stated: StatedFunction): Requirement[] {
  const { symbol, signature } = stated;
  const { name, parameters, returns } = signature;
  const loads =
    parameters.some(({ type }) => type === 'Checkpoint&') && /\b(?:Linear|\w+Weights)\b/.test(returns);
  const isElements = /^(?:const )?(?:float|double)\s*\*$/.test(returns);
  const isMatrix = loads && /\bLinear\b/.test(returns);
  return [
    ...(loads
      ? [
          ask(
            stated,
            'shapes',
            Object.keys(symbol.shapes ?? {}).length > 0,
            `the tensors that ${name} takes are not said`,
          ),
          ask(
            stated,
            'dtypes',
            Object.keys(symbol.dtypes ?? {}).length > 0,
            `the format in which ${name} keeps tensors is not said`,
          ),
        ]
      : []),
    ...(loads ? listTensors(stated) : []),
    ...(isElements || isMatrix
      ? [
          ask(
            stated,
            'shapes',
            symbol.shapes?.return !== undefined,
            `the shape of what ${name} returns is not said`,
          ),
        ]
      : []),
    ...(isMatrix
      ? [
          ask(
            stated,
            'dtypes',
            symbol.dtypes?.return !== undefined,
            `the number format of what ${name} returns is not said`,
          ),
        ]
      : []),
  ];
}

/** The tensors that the text has a table of; those that some models lack are marked there in brackets. */
function listTensors(stated: StatedFunction): Requirement[] {
  const rows = stated.page.body
    .split('\n')
    .filter((line) => /^\| `[\w.]+\.weight`/.test(line) && !line.includes('('));
  const names = rows.flatMap((row) =>
    [...row.matchAll(/`(?:[\w.]*\.)?(\w+)\.weight`/g)].map((match) => match[1]!),
  );
  const shapes = Object.keys(stated.symbol.shapes ?? {});
  return names
    .filter((name) => !/_norm$/.test(name))
    .map((name) =>
      ask(
        stated,
        'shapes',
        shapes.some((key) => key.includes(name)),
        `the shape of ${name} in ${stated.signature.name} is not said`,
      ),
    );
}

function checkCalls(stated: StatedFunction): Requirement[] {
  const { symbol, signature } = stated;
  const { name, parameters } = signature;
  const tensors = parameters.filter(({ isTensor }) => isTensor);
  const isByRows = parameters.some((parameter) => parameter.name === 'num_rows');
  const mayOverlap = writtenParameters(signature).length > 0 && (tensors.length > 1 || isByRows);
  const overlap = `which arguments of ${name} may overlap is not said`;
  const threads = `which threads may call ${name}, or take part in it, is not said`;
  return [
    ...(mayOverlap ? [ask(stated, 'aliasing', isSaid(symbol.aliasing), overlap)] : []),
    ask(stated, 'threads', isSaid(symbol.threads), threads, isByRows ? undefined : 'warning'),
  ];
}

/** Dimensions by the names of config.h are constants that the contract lists. */
function checkConstants({ page, symbol, signature, at }: StatedFunction): Requirement[] {
  const { config } = page.loaded.contract.frontMatter;
  const carriesLength = (key: string) =>
    signature.parameters.some(({ name, type }) => name === key && type.startsWith('std::span'));
  const words = Object.entries(symbol.shapes ?? {})
    .filter(([key]) => !carriesLength(key))
    .flatMap(([, dimensions]) => dimensions)
    .flatMap((dimension) => String(dimension).match(/[a-z][a-z_]*[a-z]/g) ?? []);
  return [...new Set(words)].filter(isConfigConstant).map((word) => {
    const missing = `${word} in a shape of ${signature.name} is a constant that config does not list`;
    return requireField(page, 'constant', [...at, 'shapes'], config.includes(word), missing);
  });
}
