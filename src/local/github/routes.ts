import { actionsRoutes } from './actions.ts';
import { appRoutes } from './app-routes.ts';
import { commitRoutes } from './commit-routes.ts';
import { contentRoutes } from './content-routes.ts';
import { conversationRoutes } from './conversation-routes.ts';
import { hookRoutes } from './hook-routes.ts';
import { pageRoutes } from './page-routes.ts';
import { followBranches } from './pull-changes.ts';
import { refRoutes } from './ref-routes.ts';
import { repositoryRoutes } from './repository-routes.ts';
import type { Route } from './router.ts';
import { runnerRoutes } from './runner-routes.ts';
import { treeRoutes } from './tree-routes.ts';
import type { RefListener } from './world.ts';

/** Every REST route of the stand-in, below /api/v3; GraphQL is `POST /graphql`. */
export const allRoutes: readonly Route[] = [
  ...appRoutes,
  ...hookRoutes,
  ...repositoryRoutes,
  ...contentRoutes,
  ...commitRoutes,
  ...refRoutes,
  ...treeRoutes,
  ...conversationRoutes,
  ...actionsRoutes,
];

/** Routes outside the API, by their whole path: HTML pages and the local runner's `/_runner/…`. */
export const plainRoutes: readonly Route[] = [...runnerRoutes, ...pageRoutes];

/** What happens after a branch moved: pull requests get their new head. */
export const refListeners: readonly RefListener[] = [followBranches];
