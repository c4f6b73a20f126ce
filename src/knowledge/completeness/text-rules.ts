import {
  type ContractPage,
  hasWord,
  type Requirement,
  requireText,
  sectionLine,
  sectionText,
} from './requirement.ts';
import { parseSignature, type Signature, writtenParameters } from './signature.ts';

/** What the text below the front matter must say. */
export function checkText(page: ContractPage): Requirement[] {
  const signatures = page.loaded.contract.frontMatter.provides.symbols
    .map(({ signature }) => parseSignature(signature))
    .filter(({ isFunction, isInline }) => isFunction && !isInline);
  return [
    ...checkHeadings(page),
    ...signatures.flatMap((signature) => [...checkOutputs(page, signature), ...checkInputs(page, signature)]),
    ...checkNumbering(page),
    ...checkTies(page),
  ];
}

const headings = ['Meaning', 'Steps', 'Edges', 'Cost', 'What people get wrong'];

function checkHeadings(page: ContractPage): Requirement[] {
  const { frontMatter } = page.loaded.contract;
  return headings
    .filter((title) => title !== 'Steps' || frontMatter.provides.header_only !== true)
    .map((title) => {
      const isThere =
        sectionText(page, title).trim() !== '' ||
        (title === 'Steps' && hasSteps(sectionText(page, 'Meaning')));
      return requireText(
        page,
        'heading',
        sectionLine(page, title),
        isThere,
        `the section "${title}" is missing or empty`,
      );
    });
}

/** Where the meaning is told as steps, it needs no second telling. */
function hasSteps(meaning: string): boolean {
  return /^(?:\d+\. |```)/m.test(meaning);
}

/** Steps write every output, or name the function whose formula stands under Meaning. */
function checkOutputs(page: ContractPage, signature: Signature): Requirement[] {
  const steps = sectionText(page, 'Steps');
  if (steps.trim() === '') return [];
  const { symbols } = page.loaded.contract.frontMatter.provides;
  const symbol = symbols.find(({ signature: written }) => parseSignature(written).name === signature.name);
  return writtenParameters(signature, symbol?.aliasing).map(({ name }) => {
    const isUpdated = new RegExp(
      `\\b${name} is (?:read and then )?(?:added|updated)|read and then added`,
    ).test(symbol?.aliasing ?? '');
    const isNamed = new RegExp(`(?<![\\w.])${signature.name}(?:\\([^)]*\\))?:`).test(steps);
    const isWritten = isUpdated
      ? new RegExp(`\\(${name},|(?<!\\w)${name}(?:\\[[^\\n]*?\\])*\\s*(?:←|=|\\+=)`).test(steps)
      : hasWord(steps, name);
    return requireText(
      page,
      'output',
      sectionLine(page, 'Steps'),
      isNamed || isWritten,
      `no step writes ${name} of ${signature.name}`,
    );
  });
}

/** Every tensor that goes in is used somewhere. */
function checkInputs(page: ContractPage, signature: Signature): Requirement[] {
  return signature.parameters
    .filter(({ isTensor }) => isTensor)
    .map(({ name }) =>
      requireText(
        page,
        'input',
        sectionLine(page, 'Meaning'),
        hasWord(page.demands, name),
        `nothing says what ${signature.name} does with ${name}`,
      ),
    );
}

/** A list of steps has no gap, and no text names a step that isn't there. */
function checkNumbering(page: ContractPage): Requirement[] {
  return page.sections.flatMap((section) => {
    if (/^(?:example|cost)/i.test(section.title)) return [];
    const numbered = section.text.split('\n').flatMap((line, index) => {
      const number = /^(\d+)\. /.exec(line)?.[1];
      return number === undefined ? [] : [{ number: Number(number), line: section.line + 1 + index }];
    });
    const gaps = numbered.map(({ number, line }, index) =>
      requireText(
        page,
        'numbering',
        line,
        number === index + 1 || number === 1,
        `item ${number} follows item ${index === 0 ? 'none' : numbered[index - 1]!.number}: one is missing`,
      ),
    );
    if (!/^(?:meaning|steps)/i.test(section.title)) return gaps;
    const named = [...section.text.matchAll(/\bsteps? (\d+)(?:(?:, | and | or )(\d+))*/g)]
      .flatMap(([text]) => text.match(/\d+/g) ?? [])
      .map(Number);
    return [
      ...gaps,
      ...[...new Set(named)].map((number) =>
        requireText(
          page,
          'numbering',
          section.line,
          numbered.length === 0 || numbered.some((item) => item.number === number),
          `step ${number} is named, and there is none`,
        ),
      ),
    ];
  });
}

/** A choice by size: of equals one must be taken, and the text says which. */
const choice =
  /(?:\bids?|\btoken|\bindex) of the (?:largest|smallest|highest|lowest|best)|in descending order|\bsorted by|\bordered by|\bargmax is\b|the k-th largest/;
const tieBreak =
  /\bequals?\b|\bties?\b|\bstabl[ey]|\bleftmost\b|\blower id|\blowest id|\bposition\b|\bbegin\b/;

function checkTies(page: ContractPage): Requirement[] {
  const lines = page.sections
    .filter(({ title }) => !/^(?:example|cost|edges|what people)/i.test(title))
    .flatMap(({ text, line }) =>
      text.split('\n').map((content, index) => ({ content, line: line + 1 + index })),
    );
  const each = lines
    .filter(({ content }) => choice.test(content))
    .map(({ content, line }) => {
      const found = choice.exec(content)?.[0] ?? '';
      const rest = content.slice(content.indexOf(found));
      return requireText(
        page,
        'tie-break',
        line,
        tieBreak.test(rest),
        `"${found}" chooses by size; which of equals is taken is not said`,
      );
    });
  const usesArgmax = lines.find(({ content }) => /\bargmax\b/.test(content));
  if (usesArgmax === undefined) return each;
  const isSaid = lines.some(
    ({ content }) => /\bargmax\b/.test(content) && tieBreak.test(content.slice(content.indexOf('argmax'))),
  );
  return [
    ...each,
    requireText(
      page,
      'tie-break',
      usesArgmax.line,
      isSaid,
      'argmax is used; which of equals it takes is not said',
    ),
  ];
}
