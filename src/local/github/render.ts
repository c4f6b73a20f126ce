import type { App, Installation, Repository, User, World } from './world.ts';

/** Where the REST API lies. */
export function apiUrl(world: World): string {
  return `${world.url}/api/v3`;
}

export function repositoryApiUrl(world: World, repository: Repository): string {
  return `${apiUrl(world)}/repos/${repository.owner.login}/${repository.name}`;
}

export function repositoryHtmlUrl(world: World, repository: Repository): string {
  return `${world.url}/${repository.owner.login}/${repository.name}`;
}

/** GitHub's "simple user", as it stands in every answer and payload. */
export function renderUser(world: World, user: User): Record<string, unknown> {
  const url = `${apiUrl(world)}/users/${encodeURIComponent(user.login)}`;
  return {
    login: user.login,
    id: user.id,
    node_id: user.nodeId,
    avatar_url: `${world.url}/avatars/${user.id}`,
    gravatar_id: '',
    url,
    html_url: `${world.url}/${user.type === 'Bot' ? `apps/${user.login.replace('[bot]', '')}` : user.login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: user.type,
    site_admin: false,
  };
}

/** The addresses of a repository's parts, as templates, in GitHub's order. */
const addresses: Readonly<Record<string, string>> = {
  archive_url: '/{archive_format}{/ref}',
  assignees_url: '/assignees{/user}',
  blobs_url: '/git/blobs{/sha}',
  branches_url: '/branches{/branch}',
  collaborators_url: '/collaborators{/collaborator}',
  comments_url: '/comments{/number}',
  commits_url: '/commits{/sha}',
  compare_url: '/compare/{base}...{head}',
  contents_url: '/contents/{+path}',
  contributors_url: '/contributors',
  deployments_url: '/deployments',
  downloads_url: '/downloads',
  events_url: '/events',
  forks_url: '/forks',
  git_commits_url: '/git/commits{/sha}',
  git_refs_url: '/git/refs{/sha}',
  git_tags_url: '/git/tags{/sha}',
  hooks_url: '/hooks',
  issue_comment_url: '/issues/comments{/number}',
  issue_events_url: '/issues/events{/number}',
  issues_url: '/issues{/number}',
  keys_url: '/keys{/key_id}',
  labels_url: '/labels{/name}',
  languages_url: '/languages',
  merges_url: '/merges',
  milestones_url: '/milestones{/number}',
  notifications_url: '/notifications{?since,all,participating}',
  pulls_url: '/pulls{/number}',
  releases_url: '/releases{/id}',
  stargazers_url: '/stargazers',
  statuses_url: '/statuses/{sha}',
  subscribers_url: '/subscribers',
  subscription_url: '/subscription',
  tags_url: '/tags',
  teams_url: '/teams',
  trees_url: '/git/trees{/sha}',
};

/** GitHub's "minimal repository": names and addresses. */
export function renderMinimalRepository(world: World, repository: Repository): Record<string, unknown> {
  const url = repositoryApiUrl(world, repository);
  return {
    id: repository.id,
    node_id: repository.nodeId,
    name: repository.name,
    full_name: `${repository.owner.login}/${repository.name}`,
    private: repository.isPrivate,
    owner: renderUser(world, repository.owner),
    html_url: repositoryHtmlUrl(world, repository),
    description: null,
    fork: false,
    url,
    ...Object.fromEntries(Object.entries(addresses).map(([name, path]) => [name, url + path])),
  };
}

/** GitHub's "full repository" as answers and payloads carry it. */
export function renderRepository(world: World, repository: Repository): Record<string, unknown> {
  const html = repositoryHtmlUrl(world, repository);
  const openIssues = [...repository.issues.values()].filter(isOpen).length;
  return {
    ...renderMinimalRepository(world, repository),
    created_at: timestamp(repository.createdAt),
    updated_at: timestamp(repository.pushedAt),
    pushed_at: timestamp(repository.pushedAt),
    git_url: `${html.replace(/^http/, 'git')}.git`,
    ssh_url: `${html.replace(/^http/, 'ssh')}.git`,
    clone_url: `${html}.git`,
    svn_url: html,
    homepage: null,
    size: 0,
    stargazers_count: 0,
    watchers_count: 0,
    language: null,
    has_issues: true,
    has_projects: false,
    has_downloads: true,
    has_wiki: false,
    has_pages: false,
    has_discussions: false,
    forks_count: 0,
    mirror_url: null,
    archived: false,
    disabled: false,
    open_issues_count: openIssues,
    license: null,
    allow_forking: true,
    is_template: false,
    web_commit_signoff_required: false,
    topics: [],
    visibility: repository.isPrivate ? 'private' : 'public',
    forks: 0,
    open_issues: openIssues,
    watchers: 0,
    default_branch: repository.defaultBranch,
  };
}

function isOpen(issue: object): boolean {
  return 'state' in issue && issue.state === 'open';
}

/** GitHub's "integration": the app, in answers about it and in its check runs. */
export function renderApp(world: World, app: App): Record<string, unknown> {
  return {
    id: app.id,
    client_id: app.clientId,
    slug: app.slug,
    node_id: app.nodeId,
    owner: renderUser(world, app.owner),
    name: app.name,
    description: null,
    external_url: `${world.url}/apps/${app.slug}`,
    html_url: `${world.url}/apps/${app.slug}`,
    created_at: timestamp(app.createdAt),
    updated_at: timestamp(app.createdAt),
    permissions: app.permissions,
    events: app.events,
  };
}

export function renderInstallation(world: World, installation: Installation): Record<string, unknown> {
  const { app, account } = installation;
  return {
    id: installation.id,
    account: renderUser(world, account),
    repository_selection: 'selected',
    access_tokens_url: `${apiUrl(world)}/app/installations/${installation.id}/access_tokens`,
    repositories_url: `${apiUrl(world)}/installation/repositories`,
    html_url: `${world.url}/settings/installations/${installation.id}`,
    app_id: app.id,
    app_slug: app.slug,
    target_id: account.id,
    target_type: account.type === 'Organization' ? 'Organization' : 'User',
    permissions: installation.permissions,
    events: installation.events,
    created_at: timestamp(installation.createdAt),
    updated_at: timestamp(installation.createdAt),
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: null,
    suspended_at: null,
  };
}

/** As GitHub writes times: UTC, whole seconds. */
export function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
