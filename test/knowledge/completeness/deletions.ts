import { parseDocument } from 'yaml';
import type { LoadedContract } from '../../../src/knowledge/contract-folder.ts';
import { listItems, listSections } from '../../../src/knowledge/contract-sections.ts';

/** A contract.md with one statement taken out. */
export interface Deletion {
  readonly contract: string;
  readonly kind: string;
  /** What is gone, in its own words. */
  readonly what: string;
  readonly page: string;
}

type Path = readonly (string | number)[];

/** Every single statement of these kinds that can be taken out of a contract, each alone. */
export function listDeletions({ contract }: LoadedContract, page: string): Deletion[] {
  const { id } = contract.frontMatter;
  const made = [...deleteFields(contract.frontMatter, page), ...deleteText(page)];
  return made.filter((deletion) => deletion.page !== page).map((deletion) => ({ contract: id, ...deletion }));
}

type Made = Omit<Deletion, 'contract'>;

function deleteFields(front: LoadedContract['contract']['frontMatter'], page: string): Made[] {
  const without = (kind: string, path: Path): Made => ({
    kind,
    what: path.join('.'),
    page: editFrontMatter(page, (document) => document.deleteIn(path)),
  });
  const emptied = (kind: string, path: Path): Made => ({
    kind,
    what: path.join('.'),
    page: editFrontMatter(page, (document) => document.setIn(path, '')),
  });
  return [
    ...front.provides.symbols.flatMap((symbol, index) => {
      const at = ['provides', 'symbols', index];
      const fields = (['layout', 'aliasing', 'threads'] as const).filter((key) => symbol[key] !== undefined);
      return [
        ...Object.keys(symbol.shapes ?? {}).map((key) => without('shape', [...at, 'shapes', key])),
        ...Object.keys(symbol.dtypes ?? {}).map((key) => without('dtype', [...at, 'dtypes', key])),
        ...fields.map((key) => without(key, [...at, key])),
        emptied('errors', [...at, 'errors']),
        ...(front.provides.symbols.length > 1 ? [without('symbol', at)] : []),
      ];
    }),
    ...front.config.map((_, index) => without('config key', ['config', index])),
  ];
}

function editFrontMatter(page: string, edit: (document: ReturnType<typeof parseDocument>) => void): string {
  const match = /^---\n([\s\S]*?)\n---\n/.exec(page);
  if (match === null) throw new Error('the page has no front matter');
  const document = parseDocument(match[1]!);
  edit(document);
  return `---\n${document.toString({ lineWidth: 0 })}---\n${page.slice(match[0].length)}`;
}

function deleteText(page: string): Made[] {
  return listSections(page).flatMap(({ title, text }) => {
    const whole = `## ${title}\n${text}`;
    const cut = (kind: string, part: string, by = ''): Made => ({
      kind,
      what: part.trim().slice(0, 80),
      page: page.replace(whole, () => whole.replace(part, by)),
    });
    const lines = text.split('\n');
    const isDemand = !/^(?:Cost|Example|What people)/.test(title);
    return [
      ...(/^(?:Meaning|Steps|Edges|Cost|What people)/.test(title) ? [cut('section', whole)] : []),
      ...(isDemand
        ? lines.filter((line) => /^\d+\. /.test(line)).map((line) => cut('numbered step', `${line}\n`))
        : []),
      ...(title === 'Steps'
        ? lines.filter((line) => line.includes('←')).map((line) => cut('computing step', `${line}\n`))
        : []),
      ...(isDemand ? tieBreaks(text).map((part) => cut('tie-break', part)) : []),
      ...(title === 'Edges' ? listItems(text).map((item) => cut('edge', item)) : []),
    ];
  });
}

function tieBreaks(text: string): string[] {
  return [
    ...text.matchAll(
      /, the lowest of equals|: ties with it stay| \(of equals the lower id first\)|, stably[^.]*\)|\n?- argmax is the lowest id among equals\.|, position of its left symbol/g,
    ),
  ].map(([part]) => part);
}
