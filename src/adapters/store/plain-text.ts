/** PostgreSQL's text takes no NUL, and what others wrote may hold one. Cut to `limit` UTF-16 units. */
export function plainText(text: string, limit = 10_000): string {
  return text.slice(0, limit).replaceAll('\0', '\uFFFD');
}
