const hidden = '[redacted]';

/** Local servers are given words as keys (`ollama`, `none`): those are no secrets, and they stand in many a text. */
const shortestSecret = 8;

/** What keys look like in errors and headers of the usual endpoints, whole or shortened by them. */
const keyShapes = [
  /\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=*-]{6,}/gi,
  /\b(?:sk|pk|rk|gsk|xai|hf|nvapi|r8)[-_][A-Za-z0-9_*.-]{8,}/g,
  /\b(api[-_ ]?key(?: provided)?["']?\s*[:=]\s*["']?)[A-Za-z0-9._*-]{6,}/gi,
];

/** A function that takes the given secrets, and whatever looks like a key, out of a text. */
export function redactorOf(secrets: readonly (string | undefined)[]): (text: string) => string {
  return (text) => {
    const without = secrets.reduce<string>((rest, secret) => redactSecret(rest, secret), text);
    return keyShapes.reduce((rest, shape) => rest.replace(shape, keepLabel), without);
  };
}

function keepLabel(match: string, label?: unknown): string {
  return typeof label === 'string' && match.startsWith(label) ? `${label}${hidden}` : hidden;
}

/** The same for a text that goes into a record: there, only the secrets themselves are taken out, code stays as it is. */
export function redactSecret(text: string, secret: string | undefined): string {
  return secret === undefined || secret.length < shortestSecret ? text : text.replaceAll(secret, hidden);
}
