import { createInstallationToken } from './installation-tokens.ts';
import { renderPage } from './pagination.ts';
import { renderApp, renderInstallation, renderRepository } from './render.ts';
import { type Actor, GitHubError, numberParam, type RequestContext, type Route } from './router.ts';
import type { App, Installation } from './world.ts';

/** What an app does with its JWT, and what its installations see. */
export const appRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/app',
    access: 'app',
    handle: async (context) => {
      const app = appOf(context);
      const count = installationsOf(context, app).length;
      return { status: 200, body: { ...renderApp(context.world, app), installations_count: count } };
    },
  },
  {
    method: 'GET',
    path: '/app/installations',
    access: 'app',
    handle: (context) =>
      renderPage(context, installationsOf(context, appOf(context)), (installation) =>
        renderInstallation(context.world, installation),
      ),
  },
  {
    method: 'GET',
    path: '/app/installations/{installation_id}',
    access: 'app',
    handle: async (context) => {
      const installation = findInstallation(context);
      return { status: 200, body: renderInstallation(context.world, installation) };
    },
  },
  {
    method: 'POST',
    path: '/app/installations/{installation_id}/access_tokens',
    access: 'app',
    handle: async (context) => ({
      status: 201,
      body: createInstallationToken(context, findInstallation(context)),
    }),
  },
  {
    method: 'GET',
    path: '/repos/{owner}/{repo}/installation',
    access: 'app',
    handle: async (context) => {
      const app = appOf(context);
      const installation = installationsOf(context, app).find((candidate) =>
        candidate.repositoryIds.has(context.repository.id),
      );
      if (installation === undefined) throw new GitHubError(404, 'Not Found');
      return { status: 200, body: renderInstallation(context.world, installation) };
    },
  },
  {
    method: 'GET',
    path: '/installation/repositories',
    access: 'installation',
    handle: async (context) => {
      const { repositoryIds } = context.actor as Actor & { readonly kind: 'installation' };
      const repositories = [...context.world.repositories.values()].filter(({ id }) => repositoryIds.has(id));
      return renderPage(
        context,
        repositories,
        (repository) => renderRepository(context.world, repository),
        (items, total) => ({
          total_count: total,
          repository_selection: 'selected',
          repositories: items,
        }),
      );
    },
  },
];

/** The app of a route with `access: 'app'`. */
export function appOf(context: RequestContext): App {
  if (context.actor.kind !== 'app') throw new GitHubError(401, 'A JSON web token could not be decoded');
  return context.actor.app;
}

function installationsOf(context: RequestContext, app: App): readonly Installation[] {
  return [...context.world.installations.values()].filter((installation) => installation.app.id === app.id);
}

function findInstallation(context: RequestContext): Installation {
  const installation = context.world.installations.get(numberParam(context, 'installation_id'));
  if (installation === undefined || installation.app.id !== appOf(context).id) {
    throw new GitHubError(404, 'Not Found');
  }
  return installation;
}
