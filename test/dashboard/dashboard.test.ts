import { afterEach, describe, expect, it } from 'vitest';
import type { DashboardOptions } from '../../src/dashboard/dashboard.ts';
import { serveDashboard } from './dashboard-server.ts';
import { realReport, type SampleRun, sampleRun } from './sample-runs.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function serve(samples: readonly SampleRun[], changes: Partial<DashboardOptions> = {}) {
  const server = await serveDashboard(samples, changes);
  open.push(server);
  return server;
}

const secret = { ...sampleRun(2).repository, id: 8, name: 'secret-plans', isPrivate: true };

describe('runs of private repositories', () => {
  const samples = [
    { run: sampleRun(1) },
    { run: sampleRun(2, { repository: secret }), documents: { report: realReport() } },
  ];
  const basic = (password: string) => ({
    headers: { authorization: `Basic ${Buffer.from(`anybody:${password}`).toString('base64')}` },
  });

  it('are in no list and answer like runs that do not exist', async () => {
    for (const operatorToken of [undefined, 'correct-horse']) {
      const { get, text } = await serve(samples, { operatorToken });
      const list = await text('/runs', basic('wrong'));
      expect(list).toContain('/runs/1"');
      expect(list).not.toContain('secret-plans');
      const [hidden, absent] = [await get('/runs/2', basic('wrong')), await get('/runs/99')];
      expect([hidden.status, absent.status]).toEqual([404, 404]);
      expect(await hidden.text()).toBe(await absent.text());
      expect((await get('/runs/2/plots/speed.svg')).status).toBe(404);
    }
  });

  it('are shown to whoever has the operator’s token, from a browser or a script', async () => {
    const { get, text } = await serve(samples, { operatorToken: 'correct-horse' });
    const bearer = { headers: { authorization: 'Bearer correct-horse' } };
    for (const proof of [basic('correct-horse'), bearer]) {
      expect(await text('/runs', proof)).toContain('secret-plans');
      expect((await get('/runs/2', proof)).status).toBe(200);
      const plot = await get('/runs/2/plots/speed.svg', proof);
      expect([plot.status, plot.headers.get('cache-control')]).toEqual([200, 'private, max-age=60']);
    }
  });

  it('are signed in for by the browser’s own question', async () => {
    const { get, text } = await serve(samples, { operatorToken: 'correct-horse' });
    expect(await text('/runs')).toContain('href="/sign-in"');
    const asked = await get('/sign-in');
    expect([asked.status, asked.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Basic realm=/),
    ]);
    const allowed = await get('/sign-in', basic('correct-horse'));
    expect([allowed.status, allowed.headers.get('location')]).toEqual([303, '/runs']);
  });

  it('stay hidden where no token is configured, whatever is sent', async () => {
    const { get } = await serve(samples);
    expect((await get('/runs/2', basic(''))).status).toBe(404);
    expect((await get('/runs/2', { headers: { authorization: 'Bearer undefined' } })).status).toBe(404);
    expect((await get('/sign-in')).status).toBe(404);
  });
});

describe('plots', () => {
  it('are served as SVG that can run nothing', async () => {
    const { get } = await serve([{ run: sampleRun(3), documents: { report: realReport() } }]);
    const plot = await get('/runs/3/plots/speed.svg');
    expect(plot.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
    expect(plot.headers.get('content-security-policy')).toMatch(/sandbox$/);
    expect(await plot.text()).toContain('<title>tiny-qwen3</title>');
  });

  it('answer 404 without a report, without the figures, and for an unknown name', async () => {
    const { get } = await serve(
      [{ run: sampleRun(3) }, { run: sampleRun(4), documents: { report: realReport() } }],
      {
        renderPlot: async () => undefined,
      },
    );
    for (const path of [
      '/runs/3/plots/speed.svg',
      '/runs/4/plots/speed.svg',
      '/runs/4/plots/constructor.svg',
    ]) {
      expect((await get(path)).status).toBe(404);
    }
  });
});

describe('the addresses for machines', () => {
  it('say that the process lives without asking the database, and that it is ready only with it', async () => {
    const broken = { ...serveStoreless() };
    const { get, logged } = await serve([], broken);
    expect((await get('/healthz')).status).toBe(200);
    const ready = await get('/readyz');
    expect([ready.status, await ready.text()]).toEqual([503, 'the database does not answer\n']);
    expect(logged).toHaveLength(1);
  });

  it('say ready, and no longer so once the app is stopping', async () => {
    let isStopping = false;
    const { text, get } = await serve([], { isReady: () => !isStopping });
    expect(await text('/readyz')).toBe('ready\n');
    isStopping = true;
    expect((await get('/readyz')).status).toBe(503);
  });

  it('refuse to change anything, and leave every other address alone', async () => {
    const { get } = await serve([{ run: sampleRun(1) }]);
    const posted = await get('/runs/1', { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const head = await get('/runs', { method: 'HEAD' });
    expect([head.status, Number(head.headers.get('content-length')) > 500, await head.text()]).toEqual([
      200,
      true,
      '',
    ]);
    for (const path of ['/api/github/webhooks', '/constructor', '/runsx', '//runs']) {
      expect(await (await get(path)).text()).toBe('next');
    }
    for (const path of ['/runs/', '/runs/0', '/runs/1e3', '/runs/1/plots/../../x', '/runs/99999999999']) {
      expect((await get(path)).status).toBe(404);
    }
  });
});

describe('a fault behind a page', () => {
  it('answers with an apology, keeps its cause in the log and shows nothing of it', async () => {
    const { get, logged } = await serve([], serveStoreless());
    const page = await get('/runs');
    expect(page.status).toBe(500);
    expect(await page.text()).not.toContain('ECONNREFUSED');
    expect(JSON.stringify(logged)).toContain('/runs');
  });
});

function serveStoreless(): Pick<DashboardOptions, 'store'> {
  const refuse = () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.1:5432'));
  return {
    store: {
      listRuns: refuse,
      findRunByNumber: refuse,
      readDocument: refuse,
      readTimeline: refuse,
      readAttempts: refuse,
      completionLedger: () => {
        throw new Error('not asked without a run');
      },
      ping: refuse,
    },
  };
}
