import { checkRoutes } from './checks.ts';
import { collaboratorRoutes } from './collaborators.ts';
import { commentRoutes } from './comments.ts';
import { graphqlRoutes } from './graphql.ts';
import { issueRoutes } from './issues.ts';
import { labelRoutes } from './labels.ts';
import { mergeRoutes } from './merge-pull.ts';
import { pullRoutes } from './pulls.ts';
import { reactionRoutes } from './reactions.ts';
import { reviewerRoutes } from './requested-reviewers.ts';
import { reviewCommentRoutes } from './review-comments.ts';
import { reviewRoutes } from './reviews.ts';
import type { Route } from './router.ts';
import { statusRoutes } from './statuses.ts';

/** Everything that people and apps say about code: issues, pull requests, reviews, checks. */
export const conversationRoutes: readonly Route[] = [
  ...issueRoutes,
  ...commentRoutes,
  ...reactionRoutes,
  ...labelRoutes,
  ...pullRoutes,
  ...mergeRoutes,
  ...reviewerRoutes,
  ...reviewRoutes,
  ...reviewCommentRoutes,
  ...checkRoutes,
  ...statusRoutes,
  ...collaboratorRoutes,
  ...graphqlRoutes,
];
