import { Octokit } from '@octokit/rest';
import { AppError } from '../../model/errors.ts';

/** What GitHub gives once for an app that was made from a manifest. */
export interface CreatedApp {
  readonly appId: number;
  readonly slug: string;
  readonly url: string;
  readonly privateKey: string;
  readonly webhookSecret: string;
}

/**
 * Exchanges the code of the manifest flow for the app's credentials; it works once, within an hour.
 * @throws AppError NOT_PERMITTED where the code is used up, GITHUB_UNAVAILABLE otherwise
 */
export async function createFromManifest(apiUrl: string, code: string): Promise<CreatedApp> {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const octokit = new Octokit({ baseUrl: apiUrl, log: silent });
  try {
    const { data } = await octokit.rest.apps.createFromManifest({ code });
    return {
      appId: data.id,
      slug: data.slug ?? `app-${data.id}`,
      url: data.html_url,
      privateKey: data.pem,
      webhookSecret: data.webhook_secret ?? '',
    };
  } catch (error) {
    const { status } = error as { status?: unknown };
    if (status === 404 || status === 422) {
      throw new AppError(
        'NOT_PERMITTED',
        'GitHub does not take the code: it was used already or is older than an hour. Start `metainfer setup` again.',
        { cause: error },
      );
    }
    throw new AppError('GITHUB_UNAVAILABLE', `${apiUrl} did not answer as it should. Try again.`, {
      cause: error,
    });
  }
}
