import type { RepositoryClient } from '../adapters/github/repository-client.ts';
import type { Reaction } from '../model/delivery.ts';
import type { CommandPlace } from '../model/github.ts';

/** What became of a delivery, for its row and the log. */
export interface Handled {
  readonly outcome: 'done' | 'ignored';
  readonly detail: string;
}

export const ignored = (detail: string): Handled => ({ outcome: 'ignored', detail });
export const done = (detail: string): Handled => ({ outcome: 'done', detail });

/** Reacts to the comment that a command stands in. */
export function reactTo(client: RepositoryClient, place: CommandPlace, reaction: Reaction): Promise<void> {
  return client.react({ kind: place.comment.kind, id: place.comment.id }, reaction);
}

/** Answers where the command stands: in the conversation, or in the thread of a review comment. */
export async function replyTo(
  client: RepositoryClient,
  place: CommandPlace,
  deliveryId: string,
  key: string,
  body: string,
): Promise<void> {
  const once = { scope: deliveryId, key };
  if (place.comment.kind === 'review-comment')
    await client.replyToReviewComment(once, place.number, place.comment.threadId ?? place.comment.id, body);
  else await client.createComment(once, place.number, body);
}
