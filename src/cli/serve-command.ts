import { once } from 'node:events';
import { hostname } from 'node:os';
import { type Logger, pino } from 'pino';
import { openLlmSettings } from '../adapters/llm/open-llm-settings.ts';
import { loadEnvironmentFile, readConfig, readServeConfig } from '../config.ts';
import type { Command } from './command.ts';

/** Running jobs may finish for this long after SIGTERM; what is cut off is taken up again by the next instance. */
const graceSeconds = 25;

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Run the GitHub App: webhooks, jobs and dashboard',
  positionals: [],
  options: {},
  examples: ['npx metainfer serve'],
  endsByInterrupt: true,
  async run(_, context) {
    loadEnvironmentFile();
    const config = readServeConfig();
    const log = pino({ level: config.logLevel });
    // Loaded here: the other commands start without Probot.
    const starting = endAtOnce(context.signal, log);
    const { startApp } = await import('../app.ts');
    const { logLevel: __, ...settings } = config;
    const { settings: llm, model, keyOf } = readConfig().llm;
    const agents = llm === undefined ? {} : { llm: await openLlmSettings({ llm, model, keyOf }) };
    const instance = `${hostname()}-${process.pid}`;
    const app = await startApp({ ...settings, ...agents, writeSpacing: 'github', instance }, log);
    starting.isOver();
    const named = agents.llm && {
      model: agents.llm.settings.model,
      endpoint: new URL(agents.llm.settings.base_url).host,
    };
    log.info({ url: app.url, dashboard: `${app.url}/runs`, ...named }, 'the app is up');
    if (!context.signal.aborted) await once(context.signal, 'abort');
    log.info({ graceSeconds }, 'stopping: running jobs may finish');
    await app.stop(graceSeconds);
    return { exitCode: 0, data: { url: app.url }, text: '' };
  },
};

/**
 * While the app starts, SIGTERM ends the process there and then: a start-up may wait long for a disk, a server or a name,
 * and leaves nothing behind that the next one doesn't clear up. Over, it is the command that stops the app.
 */
function endAtOnce(signal: AbortSignal, log: Logger): { isOver(): void } {
  const end = (): void => {
    log.info('stopped while it started');
    process.exit(0);
  };
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  return { isOver: () => signal.removeEventListener('abort', end) };
}
