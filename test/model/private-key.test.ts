import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPrivateKey } from '../../src/model/private-key.ts';

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
/** As GitHub hands it out. */
const pem = pair.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const pkcs8 = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const body = pem.trim().split('\n').slice(1, -1);

describe('a private key is read', () => {
  it.each([
    ['as GitHub hands it out', pem],
    ['as PKCS #8', pkcs8],
    ['in quotes', `"${pem}"`],
    ['with \\n in place of line breaks', pem.replaceAll('\n', '\\n')],
    ['with \\r\\n in place of line breaks, in quotes', `'${pem.replaceAll('\n', '\\r\\n')}'`],
    ['with CRLF', pem.replaceAll('\n', '\r\n')],
    ['with spaces in place of line breaks', pem.replaceAll('\n', ' ')],
    ['with no line breaks at all', pem.replaceAll('\n', '')],
    ['in base64', Buffer.from(pem).toString('base64')],
    ['in base64 with line breaks', Buffer.from(pem).toString('base64').replace(/.{76}/g, '$&\n')],
    ['with a byte order mark and blank lines', `\ufeff\n\n${pem}\n\n`],
    ['with every line indented', pem.replace(/^/gm, '    ')],
  ])('%s', (_, text) => {
    const reading = readPrivateKey(text);
    expect(reading).toEqual({ isKey: true, pem: pkcs8 });
    expect(createPrivateKey(pkcs8).equals(pair.privateKey)).toBe(true);
  });
});

describe('something else is explained', () => {
  const problemOf = (text: string): string => {
    const reading = readPrivateKey(text);
    return reading.isKey ? 'a key' : reading.problem;
  };
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const encrypted = pair.privateKey.export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'x',
  });

  it.each([
    ['a public key', pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(), 'is a public key;'],
    ['a public SSH key', 'ssh-rsa AAAAB3Nza ada@host', 'is a public key;'],
    [
      'an SSH key',
      '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----',
      'is an SSH key.',
    ],
    ['a certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', 'is a certificate.'],
    ['a key with a passphrase', encrypted.toString(), 'is protected by a passphrase;'],
    ['a key without its first and last line', body.join('\n'), 'lacks its first and last line,'],
    [
      'the first line alone, as an unquoted .env value',
      '-----BEGIN RSA PRIVATE KEY-----',
      'breaks off before its last line,',
    ],
    [
      'a key with a part cut out',
      [pem.split('\n')[0], ...body.slice(3), pem.trim().split('\n').at(-1)].join('\n'),
      "begins like a key and can't be read",
    ],
    ['a path', '/etc/metainfer/app.pem', 'is a path and not a key; set PRIVATE_KEY_PATH'],
    ['a file name', 'metainfer.2026-11-30.private-key.pem', 'is a path and not a key;'],
    ['a webhook secret', 'c0ffee'.repeat(6), 'is no private key:'],
    [
      'a key of another kind',
      curve.export({ type: 'pkcs8', format: 'pem' }).toString(),
      'is a key of another kind (ec);',
    ],
    [
      'a key that is too short',
      small.export({ type: 'pkcs8', format: 'pem' }).toString(),
      'is an RSA key of 1024 bits;',
    ],
  ])('%s', (_, text, beginning) => {
    expect(problemOf(text).slice(0, beginning.length)).toBe(beginning);
  });

  it('never throws', () => {
    const piece = fc.constantFrom(
      '-----BEGIN RSA PRIVATE KEY-----',
      '-----END RSA PRIVATE KEY-----',
      '\n',
      '\\n',
      '"',
      body[0]!,
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string())), (parts) => {
        expect(readPrivateKey(parts.join('')).isKey).toBe(false);
      }),
    );
  });
});
