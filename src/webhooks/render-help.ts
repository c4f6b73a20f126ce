import type { Capability } from '../model/github.ts';
import type { CommandDescription } from './command-table.ts';

/** Help as Markdown: commands that this person may use, then those that need more. Commands stand in code, so that no quotation of it triggers. */
export function renderHelp(
  table: readonly CommandDescription[],
  { allowed }: { readonly allowed: readonly Capability[] },
): string {
  const isAllowed = ({ capability }: CommandDescription) => allowed.includes(capability);
  const others = table.filter((command) => !isAllowed(command));
  return [
    'A command stands at the start of a line of a comment, one a line, written exactly like this:',
    '',
    ...table.filter(isAllowed).map(renderCommand),
    ...(others.length === 0
      ? []
      : [
          '',
          'These need more permission than you have in this repository; its maintainers can use them:',
          '',
          ...others.map(renderCommand),
        ]),
  ].join('\n');
}

function renderCommand({ name, summary, arguments: allowed, freeText }: CommandDescription): string {
  const written = Object.entries(allowed).map(([key, values]) => ` [${key}=${values.join('|')}]`);
  if (freeText !== undefined) written.push(` ${freeText.shown}`);
  return `- \`/metainfer ${name}${written.join('')}\`: ${summary}.`;
}
