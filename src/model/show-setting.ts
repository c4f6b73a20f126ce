const longest = 60;

/**
 * A setting's value for a message: in quotes where it is short and plain. A secret may have been pasted into the wrong
 * line, so what is long, has several lines or looks like a key, token or password is only described.
 */
export function showSetting(value: string): string {
  if (value.length <= longest && !looksSecret(value)) return `"${value}"`;
  const lines = value.split(/\r\n|\r|\n|\\n/).length;
  const extent =
    lines > 1 ? `${value.length} characters in ${lines} lines` : `${value.length} characters in one line`;
  return `a text of ${extent} (not shown here: it may be a secret)`;
}

function looksSecret(value: string): boolean {
  return (
    /\p{Cc}|\\n|-----|private key/iu.test(value) ||
    /\b(?:gh[a-z]_|github_pat_|v1\.)[A-Za-z0-9]/.test(value) ||
    /\/\/[^/\s]*@/.test(value) ||
    (value.match(/[A-Za-z0-9+=_]{24,}/g) ?? []).some((word) => /[0-9]/.test(word) && /[A-Za-z]/.test(word))
  );
}

/** Whether a text can be meant as the path of a folder: one line, no key, not longer than paths are. */
export function looksLikePath(text: string): boolean {
  return !/\p{Cc}|-----/u.test(text) && text.length <= 1024;
}
