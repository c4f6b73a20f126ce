import type { RunRecord } from '../model/run-record.ts';

/** Addresses on GitHub of what a run concerns. `base` is the web address of GitHub, e.g. `https://github.com`. */
export interface GithubLinks {
  readonly repository: string;
  readonly source: string;
  readonly pull: string | null;
  readonly workflow: string | null;
  /** A line of a file of the engine as it was judged; null while nothing is published. */
  engineLine(file: string, line: number | null): string | null;
}

export function linksOf(run: RunRecord, base: string): GithubLinks {
  const { owner, name } = run.repository;
  const repository = `${base.replace(/\/+$/, '')}/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
  const { github } = run.state;
  return {
    repository,
    source: `${repository}/${run.source.kind === 'issue' ? 'issues' : 'pull'}/${run.source.number}`,
    pull: github === undefined ? null : `${repository}/pull/${github.pullNumber}`,
    workflow: workflowLink(repository, github?.workflowRunId),
    engineLine(file, line) {
      if (github === undefined) return null;
      const path = `${github.enginePath}/${file}`.split('/').map(encodeURIComponent).join('/');
      return `${repository}/blob/${github.engineCommit}/${path}${line === null ? '' : `#L${line}`}`;
    },
  };
}

export function workflowLink(repository: string, workflowRunId: number | null | undefined): string | null {
  return workflowRunId == null ? null : `${repository}/actions/runs/${workflowRunId}`;
}
