import { AppError } from '../../model/errors.ts';
import { statusOf } from './github-errors.ts';
import type { RepositorySession } from './repository-session.ts';

const downloadTimeoutMs = 60_000;
const tries = 3;

async function findArtifact(session: RepositorySession, workflowRunId: number, name: string) {
  const { data } = await session.call((octokit) =>
    octokit.rest.actions.listWorkflowRunArtifacts({
      ...session.place,
      run_id: workflowRunId,
      name,
      per_page: 100,
    }),
  );
  return data.artifacts.find((artifact) => artifact.name === name && !artifact.expired);
}

/** Where the bytes are, for a minute. Not followed by Octokit, which would send our token along. */
async function locateZip(session: RepositorySession, artifactId: number): Promise<string | undefined> {
  try {
    const { headers, url } = await session.call((octokit) =>
      octokit.rest.actions.downloadArtifact({
        ...session.place,
        artifact_id: artifactId,
        archive_format: 'zip',
        request: { redirect: 'manual' },
      }),
    );
    return headers.location === undefined ? undefined : new URL(headers.location, url).href;
  } catch (error) {
    if (statusOf(error) === 404 || statusOf(error) === 410) return undefined;
    throw error;
  }
}

function tooLarge(name: string, maxBytes: number): AppError {
  return new AppError(
    'REPORT_REJECTED',
    `The artifact ${name} has more than ${maxBytes} bytes, so it was not read. The harness writes far less; the runner or the workflow file was changed.`,
  );
}

/** The body, stopped as soon as it is larger than it may be: a declared length proves nothing. */
async function readCapped(response: Response, name: string, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of response.body ?? []) {
    total += chunk.byteLength;
    if (total > maxBytes) throw tooLarge(name, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, total);
}

async function fetchZip(location: string, name: string, maxBytes: number): Promise<Buffer> {
  try {
    const response = await fetch(location, { signal: AbortSignal.timeout(downloadTimeoutMs) });
    if (!response.ok) throw new Error(`the download answered ${response.status}`);
    return await readCapped(response, name, maxBytes);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const reason = error instanceof Error ? error.message : 'unknown';
    throw new AppError(
      'GITHUB_UNAVAILABLE',
      `The artifact ${name} could not be downloaded (${reason}). It is tried again later.`,
      { cause: error },
    );
  }
}

export async function downloadArtifact(
  session: RepositorySession,
  workflowRunId: number,
  name: string,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const artifact = await findArtifact(session, workflowRunId, name);
  if (artifact === undefined) return undefined;
  if (artifact.size_in_bytes > maxBytes) throw tooLarge(name, maxBytes);
  for (let attempt = 1; ; attempt += 1) {
    const location = await locateZip(session, artifact.id);
    if (location === undefined) return undefined;
    try {
      return await fetchZip(location, name, maxBytes);
    } catch (error) {
      const mayPass = error instanceof AppError && error.code === 'GITHUB_UNAVAILABLE';
      if (!mayPass || attempt === tries) throw error;
      session.log.warn({ err: error, attempt }, 'a download of an artifact broke off');
      await session.pause(attempt * 2);
    }
  }
}
