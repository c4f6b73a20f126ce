import { configConstants } from '../../model/config-constants.ts';
import {
  type ContractPage,
  hasWord,
  type Requirement,
  requireField,
  requireText,
  sectionLine,
  sectionText,
} from './requirement.ts';

/** Constants that anybody computes with are listed or stated, and what is listed is explained. */
export function checkConstants(page: ContractPage): Requirement[] {
  return [...checkUsed(page), ...checkListed(page), ...checkMagic(page)];
}

/** By the steps, the header or the reference: whoever implements the contract needs it too. A shim is the harness's own. */
function checkUsed(page: ContractPage): Requirement[] {
  const { frontMatter, header } = page.loaded.contract;
  const steps = sectionText(page, 'Steps');
  const code = withoutComments(page.loaded.referenceText ?? '');
  const names = Object.keys(configConstants);
  const inSteps = names.filter(
    (name) =>
      name.includes('_') && new RegExp(`(?<![\\w.])${name}(?![\\w(])`).test(steps) && !isArgument(page, name),
  );
  const inCode = names.filter((name) => {
    const pattern = new RegExp(`\\bconfig(?:\\.|::)${name}\\b`);
    return [code, header.text].some((text) => pattern.test(text));
  });
  return [...new Set([...inSteps, ...inCode])].map((name) =>
    requireField(
      page,
      'constant',
      ['config'],
      frontMatter.config.includes(name),
      `${name} is computed with, and config does not list it`,
    ),
  );
}

function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}

/** Steps hand it to a function of another contract, which lists it itself. */
function isArgument(page: ContractPage, name: string): boolean {
  return new RegExp(`\\w\\([^()\\n]*\\b${name}\\b`).test(sectionText(page, 'Steps'));
}

function checkListed(page: ContractPage): Requirement[] {
  const { frontMatter, header } = page.loaded.contract;
  const texts = [page.body, header.text, JSON.stringify(frontMatter.provides)];
  return frontMatter.config.map((name, index) => {
    const isExplained = texts.some((text) => hasWord(text, name));
    const missing = `${name} is listed, and neither header nor text says what for`;
    return requireField(page, 'constant-unexplained', ['config', index], isExplained, missing, 'warning');
  });
}

/** Long constants of the reference (of a generator, a polynomial) can't be guessed: the text has them. */
function checkMagic(page: ContractPage): Requirement[] {
  const code = withoutComments(page.loaded.referenceText ?? '');
  const magic = new Set(code.match(/\b0x[0-9a-f]{9,}(?=n?\b)|\b\d\.\d{4,}(?:e-?\d+)?\b/gi) ?? []);
  const text = page.body.toLowerCase().replace(/[_, ](?=\d)/g, '');
  return [...magic].map((number) => {
    const plain = number.toLowerCase().replace(/^0x/, '').replace(/n$/, '');
    const missing = `the reference computes with ${number}, which the text does not state`;
    return requireText(page, 'constant', sectionLine(page, 'Steps'), text.includes(plain), missing);
  });
}
