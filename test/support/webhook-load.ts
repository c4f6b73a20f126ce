import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { postWebhook, type Webhook } from './webhook-relay.ts';

type Payload = { readonly issue: { readonly id: number; readonly number: number } };

/** Makes signed `issues.opened` deliveries like one that GitHub sent, each about another issue. */
export function createWebhookMaker(sample: Payload, secret: string): () => Webhook {
  let count = 0;
  return () => {
    count += 1;
    const issue = { ...sample.issue, id: sample.issue.id + count, number: sample.issue.number + count };
    const body = Buffer.from(JSON.stringify({ ...sample, issue }));
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    return {
      body,
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'issues',
        'x-github-delivery': randomUUID(),
        'x-hub-signature-256': `sha256=${signature}`,
      },
    };
  };
}

/**
 * Sends at a fixed rate, however long the answers take. Milliseconds from the moment each was due to its answer, so that
 * a sender that comes too late counts too.
 * @throws Error at an answer other than 2xx
 */
export async function sendAtRate(
  url: string,
  make: () => Webhook,
  perSecond: number,
  seconds: number,
): Promise<readonly number[]> {
  const began = performance.now();
  const answers: Promise<number>[] = [];
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const due = began + (index * 1000) / perSecond;
    await sleep(Math.max(0, due - performance.now()));
    answers.push(sendOne(url, make(), due));
  }
  return await Promise.all(answers);
}

async function sendOne(url: string, webhook: Webhook, due: number): Promise<number> {
  const status = await postWebhook(url, webhook);
  if (status >= 300) throw new Error(`A delivery was answered with ${status}.`);
  return performance.now() - due;
}
