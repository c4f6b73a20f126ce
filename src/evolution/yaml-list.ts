import { isMap, isScalar, isSeq, parseDocument, stringify, type YAMLSeq } from 'yaml';

/**
 * Items at the end of a list of a YAML text; every byte that was there stays. `key` is a key of the top level; without
 * it the text itself is the list. A key that is not there is added at the end.
 */
export function addToList(text: string, key: string | undefined, items: readonly unknown[]): string {
  const list = findList(text, key);
  if (list === undefined)
    return `${endLine(text)}${stringify(key === undefined ? items : { [key]: items }, style)}`;
  if (list.flow === true) return addToFlow(text, list, items);
  const [start, end] = placeOf(text, list.items.at(-1));
  const indent = /^ */.exec(text.slice(text.lastIndexOf('\n', start) + 1))?.[0] ?? '';
  return `${endLine(text.slice(0, end))}${indented(stringify(items, style), indent)}${text.slice(end)}`;
}

/** One more key of a map at the top level, e.g. a checkpoint. */
export function addToMap(text: string, key: string, name: string, value: unknown): string {
  const node = parseDocument(text).get(key, true);
  if (!isMap(node) || node.flow === true || node.items.length === 0)
    throw new Error(`${key} is not a map of one key per line`);
  const [start] = placeOf(text, node.items[0]?.key);
  const [, end] = placeOf(text, node.items.at(-1)?.value);
  const indent = /^ */.exec(text.slice(text.lastIndexOf('\n', start) + 1))?.[0] ?? '';
  return `${endLine(text.slice(0, end))}${indented(stringify({ [name]: value }, style), indent)}${text.slice(end)}`;
}

/** The list without the items for which `isGone` holds. */
export function dropFromList(
  text: string,
  key: string | undefined,
  isGone: (item: unknown) => boolean,
): string {
  const list = findList(text, key);
  if (list === undefined || list.flow === true) return text;
  const gone = list.items.filter((item) => isGone(toValue(item)));
  if (gone.length === list.items.length && key === undefined) return '[]\n';
  return gone.reduceRight((rest: string, item) => {
    const [start, end] = placeOf(text, item);
    return rest.slice(0, text.lastIndexOf('\n', start) + 1) + rest.slice(end);
  }, text);
}

const style = { lineWidth: 110 } as const;

function findList(text: string, key: string | undefined): YAMLSeq | undefined {
  const document = parseDocument(text);
  const node = key === undefined ? document.contents : document.get(key, true);
  return isSeq(node) && (node.items.length > 0 || node.flow === true) ? node : undefined;
}

function toValue(node: unknown): unknown {
  return isMap(node) || isSeq(node) || isScalar(node) ? node.toJS(parseDocument('')) : node;
}

/** Where a node begins, and the start of the line behind its last one. */
function placeOf(text: string, node: unknown): readonly [start: number, end: number] {
  const range = isMap(node) || isSeq(node) || isScalar(node) ? node.range : undefined;
  if (range === undefined || range === null) throw new Error('a node without a place');
  const [start, valueEnd] = range;
  if (text[valueEnd - 1] === '\n') return [start, valueEnd];
  const line = text.indexOf('\n', valueEnd);
  return [start, line < 0 ? text.length : line + 1];
}

function addToFlow(text: string, list: YAMLSeq, items: readonly unknown[]): string {
  const at = list.range![1] - 1;
  const written = items.map((item) => JSON.stringify(item)).join(', ');
  return `${text.slice(0, at)}${list.items.length > 0 ? ', ' : ''}${written}${text.slice(at)}`;
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function indented(text: string, indent: string): string {
  return text.replace(/^(?=.)/gm, indent);
}
