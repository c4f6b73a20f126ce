import { appRoutes } from './app-routes.ts';
import { hookRoutes } from './hook-routes.ts';
import type { Route } from './router.ts';
import type { RefListener } from './world.ts';

/** Every REST route of the stand-in, below /api/v3; GraphQL is `POST /graphql`. */
export const allRoutes: readonly Route[] = [...appRoutes, ...hookRoutes];

/** Routes outside the API, by their whole path: HTML pages and the local runner's `/_runner/…`. */
export const plainRoutes: readonly Route[] = [];

/** What happens after a branch moved: pull requests get their new head. */
export const refListeners: readonly RefListener[] = [];
