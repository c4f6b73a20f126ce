const component = '[^\\s/:;,\'"`‘’()<>\\[\\]]+';
/** From the root, two names or more; what lies in /usr is the same on every machine. */
const absolutePath = new RegExp(`(?<![\\w./+-])/(?!usr/)(?:${component}/+)+(${component}|)`, 'g');

/**
 * Output of a compiler or an engine without the places of this machine, which say who asked and are no part of a
 * finding: what lies in one of the folders is named relative to it, any other file by its last name.
 */
export function withoutHostPaths(text: string, folders: readonly string[]): string {
  const longestFirst = folders.filter((folder) => folder.length > 1).sort((a, b) => b.length - a.length);
  const relative = longestFirst.reduce((current, folder) => {
    const literal = folder.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    const place = new RegExp(`(?<![\\w.-])${literal}(?:(/+)|(?![\\w.-]))`, 'g');
    return current.replace(place, (_, slash: string | undefined) => (slash === undefined ? '.' : ''));
  }, text);
  return relative.replace(absolutePath, '$1');
}
