import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../../model/errors.ts';
import { html } from '../../model/html.ts';

export interface ManifestRequest {
  readonly publicUrl: string;
  /** Where GitHub takes the form. */
  readonly formUrl: string;
  readonly apiUrl: string;
  readonly manifest: Readonly<Record<string, unknown>>;
}

/** The two pages of the manifest flow: a button that hands app.yml to GitHub, and the way back with a code. */
export interface ManifestPages {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  setRedirect(url: string): void;
  /** The code that GitHub sends the browser back with. */
  code(signal: AbortSignal): Promise<string>;
}

export function createManifestPages({ formUrl, manifest }: ManifestRequest): ManifestPages {
  // GitHub gives it back: a page that somebody else opened cannot slip in an app of theirs.
  const state = randomBytes(16).toString('hex');
  let redirectUrl = '';
  let resolveCode: (code: string) => void = () => {};
  const code = new Promise<string>((resolve) => {
    resolveCode = resolve;
  });
  const send = (response: ServerResponse, status: number, body: string) =>
    response
      .writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
      .end(body);
  return {
    setRedirect(url) {
      redirectUrl = url;
    },
    handle(request, response) {
      const url = new URL(request.url ?? '/', 'http://127.0.0.1');
      if (url.pathname === '/') {
        const text = JSON.stringify({ ...manifest, redirect_url: redirectUrl });
        send(response, 200, renderForm(`${formUrl}?state=${state}`, text));
        return;
      }
      const given = url.searchParams.get('code');
      const isOurs = url.pathname === '/created' && url.searchParams.get('state') === state;
      if (!isOurs || given === null || !/^[A-Za-z0-9_-]{1,200}$/.test(given)) {
        send(response, 404, frame('Not found', 'There is nothing here; start again at the first page.'));
        return;
      }
      send(response, 200, frame('The app is made', 'You can close this page and go back to the terminal.'));
      resolveCode(given);
    },
    code(signal) {
      const stopped = new Promise<never>((_, reject) => {
        const stop = () => reject(new AppError('USAGE', 'Stopped before the app was made.'));
        if (signal.aborted) stop();
        signal.addEventListener('abort', stop, { once: true });
      });
      return Promise.race([code, stopped]);
    },
  };
}

function renderForm(action: string, manifest: string): string {
  return html`<!doctype html><html lang="en"><meta charset="utf-8"><title>MetaInfer Bot: set up</title>
<body style="font: 1rem/1.5 system-ui; max-width: 40rem; margin: 3rem auto; padding: 0 1rem">
<h1>Make the GitHub App</h1>
<p>The button takes you to GitHub with the permissions and events of <code>app.yml</code>. There you choose the name and confirm; GitHub then sends you back here.</p>
<form action="${action}" method="post"><input type="hidden" name="manifest" value="${manifest}"><button style="font: inherit; padding: .5rem 1rem">Create the app on GitHub</button></form>
</body></html>`.markup;
}

function frame(title: string, text: string): string {
  return html`<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><body style="font: 1rem/1.5 system-ui; max-width: 40rem; margin: 3rem auto"><h1>${title}</h1><p>${text}</p></body></html>`
    .markup;
}
