import type { Signature } from './read-commits.ts';
import type { User } from './world.ts';

/** The signature GitHub puts on a commit made through the API or the merge button for a user. */
export function signatureOf(user: User, date: Date): Signature {
  return { name: user.login, email: `${user.id}+${user.login}@users.noreply.github.com`, date };
}

/** As it stands in a commit object: `name <email> seconds +0000`. */
export function formatSignature(signature: Signature): string {
  const clean = (text: string) => text.replace(/[<>\n\0]/g, '').trim();
  const seconds = Math.floor(signature.date.getTime() / 1000);
  return `${clean(signature.name)} <${clean(signature.email)}> ${seconds} +0000`;
}
