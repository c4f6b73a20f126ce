import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Store } from '../adapters/store/store.ts';
import type { RecordedCall } from '../model/completion-ledger.ts';
import type { Plan } from '../model/plan.ts';
import type { Report } from '../model/report.ts';
import type { RunRecord } from '../model/run-record.ts';
import { type Answer, htmlPage, notFound, plainText, redirect, send, showMessage } from './answer.ts';
import { type KnowledgePages, renderContractPage, renderKnowledgePage } from './knowledge-pages.ts';
import type { Metrics } from './metrics.ts';
import { isOperator } from './operator.ts';
import { listPlots, type PlotName, plotNames } from './plots.ts';
import { type RunDetails, renderRunPage } from './run-page.ts';
import { renderRunsPage } from './runs-page.ts';
import { styleSheet } from './style-sheet.ts';
import { renderTranscriptFile, renderTranscriptPage } from './transcript-page.ts';

const shownRuns = 100;

export interface DashboardOptions {
  readonly store: Pick<
    Store,
    | 'listRuns'
    | 'findRunByNumber'
    | 'readDocument'
    | 'readTimeline'
    | 'readAttempts'
    | 'completionLedger'
    | 'ping'
  >;
  readonly metrics: Pick<Metrics, 'render' | 'contentType'>;
  /** Web address of GitHub, e.g. `https://github.com`. */
  readonly githubUrl: string;
  /** Shows runs of private repositories to whoever has it; absent: nobody sees them. */
  readonly operatorToken: string | undefined;
  /** An SVG document; undefined where the report lacks the figures. */
  readonly renderPlot: (report: Report, name: PlotName) => Promise<string | undefined>;
  /** Markdown. */
  readonly renderPlan: (plan: Plan) => string;
  readonly knowledge: KnowledgePages;
  /** False once the app is being stopped: /readyz then answers 503 and the load goes elsewhere. */
  readonly isReady: () => boolean;
  readonly log: Pick<Logger, 'error'>;
}

/** Handles the read-only pages; gives false for an address that is none of them. Never rejects. */
export type Dashboard = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

export function createDashboard(options: DashboardOptions): Dashboard {
  return async (request, response) => {
    const [path = '/', query = ''] = (request.url ?? '/').split('?', 2);
    const handle = findPage(path);
    if (handle === undefined) return false;
    send(request, response, await answer(handle, request, path, query, options));
    return true;
  };
}

async function answer(
  handle: PageHandler,
  request: IncomingMessage,
  path: string,
  query: string,
  options: DashboardOptions,
): Promise<Answer> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return { ...plainText(405, 'These pages are read-only.\n'), headers: { allow: 'GET, HEAD' } };
  }
  const visit = { query: new URLSearchParams(query), isOperator: isOperator(request, options.operatorToken) };
  try {
    return await handle({ ...visit, options });
  } catch (error) {
    options.log.error({ err: error, path }, 'a page of the dashboard failed');
    const advice = 'The cause is in the app’s log. Please load the page again in a minute.';
    return showMessage(500, 'This page cannot be shown now', advice);
  }
}

interface Visit {
  readonly query: URLSearchParams;
  readonly isOperator: boolean;
  readonly options: DashboardOptions;
}
type PageHandler = (visit: Visit) => Promise<Answer> | Answer;

function findPage(path: string): PageHandler | undefined {
  const fixed = fixedPages.get(path);
  const [, contract] = /^\/knowledge\/([a-z0-9.-]{1,100})$/.exec(path) ?? [];
  if (fixed === undefined && contract !== undefined) return (visit) => contractPage(visit, contract);
  if (fixed !== undefined || !path.startsWith('/runs/')) return fixed;
  const [, asked, ending] = /^\/runs\/([1-9][0-9]{0,8})\/transcript(\.json)?$/.exec(path) ?? [];
  if (asked !== undefined) return (visit) => transcript(visit, Number(asked), ending !== undefined);
  const [, number, plot] = /^\/runs\/([1-9][0-9]{0,8})(?:\/plots\/([a-z]+)\.svg)?$/.exec(path) ?? [];
  if (number === undefined) return notFound;
  return (visit) =>
    plot === undefined ? runPage(visit, Number(number)) : plotFile(visit, Number(number), plot);
}

const fixedPages: ReadonlyMap<string, PageHandler> = new Map<string, PageHandler>([
  ['/', () => redirect('/runs')],
  ['/runs', runsPage],
  ['/knowledge', knowledgePage],
  ['/knowledge/graph.svg', graphFile],
  ['/sign-in', signIn],
  ['/style.css', styles],
  ['/healthz', () => plainText(200, 'ok\n')],
  ['/readyz', readiness],
  ['/metrics', metricsPage],
]);

async function runsPage({ options, isOperator }: Visit): Promise<Answer> {
  const runs = await options.store.listRuns({ limit: shownRuns });
  const visible = runs.filter((run) => isVisible(run, isOperator));
  const canSignIn = options.operatorToken !== undefined;
  return htmlPage(
    renderRunsPage(visible, { githubUrl: options.githubUrl, isSignedIn: isOperator, canSignIn }),
  );
}

function isVisible(run: RunRecord, isOperator: boolean): boolean {
  return isOperator || !run.repository.isPrivate;
}

async function findVisible({ options, isOperator }: Visit, number: number): Promise<RunRecord | undefined> {
  const run = await options.store.findRunByNumber(number);
  return run !== undefined && isVisible(run, isOperator) ? run : undefined;
}

async function runPage(visit: Visit, number: number): Promise<Answer> {
  const run = await findVisible(visit, number);
  if (run === undefined) return notFound();
  const { githubUrl } = visit.options;
  const wantsReload = visit.query.get('reload') !== 'off';
  return htmlPage(renderRunPage(await readDetails(run, visit.options), { githubUrl, wantsReload }));
}

async function readDetails(run: RunRecord, { store, renderPlan }: DashboardOptions): Promise<RunDetails> {
  const [timeline, attempts, problems, report, log, plan, calls] = await Promise.all([
    store.readTimeline(run.id),
    store.readAttempts(run.id),
    store.readDocument(run.id, 'problems'),
    store.readDocument(run.id, 'report'),
    store.readDocument(run.id, 'log'),
    store.readDocument(run.id, 'plan'),
    run.state.agents === undefined ? [] : listCalls(store, run),
  ]);
  const planText = plan === undefined ? undefined : renderPlan(plan);
  const plots = report === undefined ? [] : listPlots(report);
  return { run, timeline, attempts, problems, report, log: log?.text, planText, plots, calls };
}

function listCalls(store: DashboardOptions['store'], run: RunRecord): Promise<readonly RecordedCall[]> {
  return store.completionLedger(run, { tokensPerDay: null }).list();
}

/** Prompts hold what the constraint file asks for: whoever may see the run may see them. */
async function transcript(visit: Visit, number: number, isFile: boolean): Promise<Answer> {
  const run = await findVisible(visit, number);
  if (run === undefined) return notFound();
  const calls = await listCalls(visit.options.store, run);
  if (!isFile) return htmlPage(renderTranscriptPage(run, calls));
  const headers = { 'content-disposition': `attachment; filename="run-${number}-transcript.json"` };
  return {
    status: 200,
    type: 'application/json; charset=utf-8',
    body: renderTranscriptFile(run, calls),
    headers,
  };
}

async function plotFile(visit: Visit, number: number, name: string): Promise<Answer> {
  const plot = plotNames.find((known) => known === name);
  const run = plot && (await findVisible(visit, number));
  const report = run && (await visit.options.store.readDocument(run.id, 'report'));
  const svg = report && plot && (await visit.options.renderPlot(report, plot));
  if (svg === undefined) return notFound();
  return picture(svg, run?.repository.isPrivate === true);
}

function picture(svg: string, isPrivate: boolean): Answer {
  const headers = {
    // Opened by itself an SVG is a document: nothing in it may load or run.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'cache-control': `${isPrivate ? 'private' : 'public'}, max-age=60`,
  };
  return { status: 200, type: 'image/svg+xml; charset=utf-8', body: svg, headers };
}

async function knowledgePage({ options: { knowledge } }: Visit): Promise<Answer> {
  return htmlPage(renderKnowledgePage(await knowledge.coverage(), await knowledge.graph()));
}

async function graphFile({ options: { knowledge } }: Visit): Promise<Answer> {
  return picture(await knowledge.drawGraph(), false);
}

async function contractPage({ options: { knowledge } }: Visit, id: string): Promise<Answer> {
  const account = await knowledge.explain(id);
  if (account !== undefined) return htmlPage(renderContractPage(account));
  return showMessage(
    404,
    'No such contract',
    `Knowledge has no contract ${id}. /knowledge lists all of them.`,
  );
}

/** A browser asks for the token by itself, and sends it to every page from then on. The user name is not looked at. */
function signIn({ isOperator, options }: Visit): Answer {
  if (options.operatorToken === undefined) return notFound();
  if (isOperator) return redirect('/runs');
  const advice = 'Use the operator’s token as the password; the user name does not matter.';
  const headers = { 'www-authenticate': 'Basic realm="MetaInfer dashboard", charset="UTF-8"' };
  return { ...showMessage(401, 'Sign in', advice), headers };
}

function styles(): Answer {
  const headers = { 'cache-control': 'public, max-age=300' };
  return { status: 200, type: 'text/css; charset=utf-8', body: styleSheet, headers };
}

async function metricsPage({ options: { metrics } }: Visit): Promise<Answer> {
  return { status: 200, type: metrics.contentType, body: await metrics.render() };
}

async function readiness({ options }: Visit): Promise<Answer> {
  if (!options.isReady()) return plainText(503, 'stopping\n');
  try {
    await options.store.ping();
    return plainText(200, 'ready\n');
  } catch (error) {
    options.log.error({ err: error }, 'the database does not answer');
    return plainText(503, 'the database does not answer\n');
  }
}
