import { createPrivateKey } from 'node:crypto';

/** A GitHub App's private key as PKCS #8, or one sentence that says what the text is instead and what to do. */
export type PrivateKeyReading =
  | { readonly isKey: true; readonly pem: string }
  | { readonly isKey: false; readonly problem: string };

const howToGet =
  'Generate one on the page of the GitHub App under "Private keys"; GitHub downloads a .pem file.';

/**
 * Reads a private key from a setting. What shells, .env files and web forms do to one is repaired: quotes around it,
 * `\\n` in place of line breaks, CRLF, line breaks lost, base64 of the whole file. Never throws.
 */
export function readPrivateKey(written: string): PrivateKeyReading {
  const text = unwrap(written);
  const refuse = (problem: string): PrivateKeyReading => ({ isKey: false, problem });
  const known = recognise(text);
  if (known !== undefined) return refuse(known);
  try {
    const key = createPrivateKey(relayLines(text));
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    if (key.asymmetricKeyType !== 'rsa') {
      return refuse(`is a key of another kind (${key.asymmetricKeyType}); GitHub Apps use RSA. ${howToGet}`);
    }
    if (bits < 2048) return refuse(`is an RSA key of ${bits} bits; GitHub's have 2048. ${howToGet}`);
    return { isKey: true, pem: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
  } catch {
    return refuse(`begins like a key and can't be read as one: a part is missing or changed. ${howToGet}`);
  }
}

function unwrap(written: string): string {
  const text = written
    .replace(/^\uFEFF/, '')
    .trim()
    .replace(/^(["'])([\s\S]*)\1$/, '$2')
    .replace(/(?:\\r)?\\n/g, '\n')
    .replace(/\r\n?/g, '\n')
    .trim();
  if (text.includes('-----') || !/^[A-Za-z0-9+/=\s]{200,}$/.test(text)) return text;
  const decoded = Buffer.from(text, 'base64').toString('utf8').replace(/\r\n?/g, '\n').trim();
  return decoded.startsWith('-----BEGIN ') ? decoded : text;
}

/** Some ways to hand over an environment keep one line only; PEM needs its lines. */
function relayLines(text: string): string {
  const parts = /^-----BEGIN ([A-Z ]+)-----([\s\S]*)-----END \1-----$/.exec(text);
  if (parts === null) return text;
  const [, kind, body] = parts;
  const lines = body!.replace(/\s+/g, '').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${kind}-----\n${lines.join('\n')}\n-----END ${kind}-----\n`;
}

/** What people set instead of a key. */
function recognise(text: string): string | undefined {
  if (/^-----BEGIN [A-Z ]*PUBLIC KEY-----/.test(text) || /^ssh-(?:rsa|ed25519) /.test(text)) {
    return `is a public key; the private one is needed. ${howToGet}`;
  }
  if (text.startsWith('-----BEGIN CERTIFICATE-----')) return `is a certificate. ${howToGet}`;
  if (text.startsWith('-----BEGIN OPENSSH PRIVATE KEY-----')) return `is an SSH key. ${howToGet}`;
  if (/^-----BEGIN ENCRYPTED/.test(text) || text.includes('Proc-Type: 4,ENCRYPTED')) {
    return 'is protected by a passphrase; give the file as GitHub made it.';
  }
  if (/^-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    return /-----END [A-Z ]*PRIVATE KEY-----$/.test(text)
      ? undefined
      : 'breaks off before its last line, -----END … PRIVATE KEY-----: an .env file needs quotes around a value of several lines.';
  }
  if (text.length < 300 && (/\.(?:pem|key)$/i.test(text) || /^[~.]?\.?\//.test(text))) {
    return 'is a path and not a key; set PRIVATE_KEY_PATH to it instead.';
  }
  if (/^[A-Za-z0-9+/=\s]{200,}$/.test(text)) {
    return 'lacks its first and last line, -----BEGIN RSA PRIVATE KEY----- and -----END RSA PRIVATE KEY-----; give the whole file.';
  }
  return `is no private key: it begins with no -----BEGIN … PRIVATE KEY-----. ${howToGet}`;
}
