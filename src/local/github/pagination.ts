import type { Reply, RequestContext } from './router.ts';

/**
 * One page of a list (`page`, `per_page` ≤ 100, 30 by default) with its `Link` header. `wrap` makes the body of lists
 * that GitHub puts into an object: `(items, total) => ({ total_count: total, check_runs: items })`.
 */
export async function renderPage<Item>(
  context: RequestContext,
  items: readonly Item[],
  render: (item: Item) => unknown | Promise<unknown>,
  wrap: (rendered: readonly unknown[], total: number) => unknown = (rendered) => rendered,
): Promise<Reply> {
  const perPage = Math.min(positive(context.query.get('per_page'), 30), 100);
  const page = positive(context.query.get('page'), 1);
  const last = Math.max(1, Math.ceil(items.length / perPage));
  const shown: unknown[] = [];
  for (const item of items.slice((page - 1) * perPage, page * perPage)) shown.push(await render(item));
  const link = [
    page > 1 && pageLink(context, page - 1, 'prev'),
    page < last && pageLink(context, page + 1, 'next'),
    page < last && pageLink(context, last, 'last'),
    page > 1 && pageLink(context, 1, 'first'),
  ].filter((part) => part !== false);
  return {
    status: 200,
    body: wrap(shown, items.length),
    ...(link.length > 0 ? { headers: { link: link.join(', ') } } : {}),
  };
}

function positive(text: string | null, otherwise: number): number {
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : otherwise;
}

function pageLink(context: RequestContext, page: number, relation: string): string {
  const url = new URL(context.url);
  url.searchParams.set('page', String(page));
  return `<${url.href}>; rel="${relation}"`;
}
