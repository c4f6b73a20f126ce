import { type Html, type HtmlValue, html } from '../../model/html.ts';
import { pageStyle } from './page-style.ts';
import { repositoryHtmlUrl } from './render.ts';
import type { Reply } from './router.ts';
import type { Repository, User, World } from './world.ts';

/** Nothing runs; pictures come from this machine only, as the stand-in works offline. */
const policy =
  "default-src 'none'; style-src 'self'; img-src 'self' data: http://127.0.0.1:* http://localhost:*; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A page of the stand-in, which says of itself that it is not GitHub. */
export function replyPage(title: string, content: HtmlValue): Reply {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/_pages/style.css">
</head>
<body>
<div class="banner">Local stand-in, not GitHub: made by MetaInfer for its demo and tests. <a href="/">All repositories</a></div>
<main>
${content}
</main>
</body>
</html>
`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  };
  return { status: 200, headers, raw: Buffer.from(page.markup) };
}

export function replyStyle(): Reply {
  return { status: 200, headers: { 'content-type': 'text/css; charset=utf-8' }, raw: Buffer.from(pageStyle) };
}

/** `owner / name`, linked; heads every page of a repository. */
export function showRepository(world: World, repository: Repository): Html {
  const { owner, name, isPrivate } = repository;
  return html`<p><a href="${repositoryHtmlUrl(world, repository)}">${owner.login} / <strong>${name}</strong></a> <span class="label">${isPrivate ? 'Private' : 'Public'}</span></p>`;
}

export function showUser(user: User): Html {
  return html`<strong>${user.login}</strong>${user.type === 'Bot' && html` <span class="label">bot</span>`}`;
}

export function showDate(at: Date): Html {
  const iso = at.toISOString();
  return html`<time class="soft" datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`;
}

/** Path segments of an address, encoded one by one. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** Links of which one is the page at hand. */
export function showTabs(tabs: readonly (readonly [name: string, url: string])[], current: string): Html {
  return html`<nav class="tabs" aria-label="Parts">${tabs.map(([name, url]) =>
    name === current
      ? html`<a href="${url}" aria-current="page">${name}</a>`
      : html`<a href="${url}">${name}</a>`,
  )}</nav>`;
}
