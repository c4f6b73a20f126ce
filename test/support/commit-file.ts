import type { ApiCall } from './github-api.ts';

/** A person's commit of one file on a branch, which is made from the default branch where it is not there; its SHA. */
export async function commitFile(
  as: ApiCall,
  repository: string,
  file: { readonly branch: string; readonly path: string; readonly text: string },
): Promise<string> {
  const { branch, path, text } = file;
  const there = await as('GET', `${repository}/git/ref/heads/${branch}`);
  if (there.status !== 200) {
    const { body: main } = await as('GET', `${repository}/git/ref/heads/main`);
    const ref = { ref: `refs/heads/${branch}`, sha: main.object.sha };
    must(await as('POST', `${repository}/git/refs`, ref));
  }
  const earlier = await as('GET', `${repository}/contents/${path}?ref=${branch}`);
  const { body } = must(
    await as('PUT', `${repository}/contents/${path}`, {
      ...{ message: `change ${path}`, branch, content: Buffer.from(text).toString('base64') },
      ...(earlier.status === 200 ? { sha: earlier.body.sha } : {}),
    }),
  );
  return body.commit.sha;
}

function must<T extends { readonly status: number; readonly body: unknown }>(answer: T): T {
  if (answer.status >= 300) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer;
}
