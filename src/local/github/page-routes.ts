import { checkPage } from './page-check.ts';
import { commitPage, contentPage } from './page-file.ts';
import { replyStyle } from './page-frame.ts';
import { issuePage } from './page-issue.ts';
import { pullChecksPage, pullFilesPage, pullPage } from './page-pull.ts';
import { homePage, repositoryPage } from './page-repository.ts';
import { workflowRunPage } from './page-workflow-run.ts';
import type { Route } from './router.ts';

const repository = '/{owner}/{repo}';

/** HTML pages for a person, at the addresses that the API's `html_url`s name. */
export const pageRoutes: readonly Route[] = [
  { method: 'GET', path: '/', handle: homePage },
  { method: 'GET', path: '/_pages/style.css', access: 'anyone', handle: async () => replyStyle() },
  { method: 'GET', path: repository, handle: repositoryPage },
  { method: 'GET', path: `${repository}/issues/{issue_number}`, handle: issuePage },
  { method: 'GET', path: `${repository}/pull/{pull_number}`, handle: pullPage },
  { method: 'GET', path: `${repository}/pull/{pull_number}/files`, handle: pullFilesPage },
  { method: 'GET', path: `${repository}/pull/{pull_number}/checks`, handle: pullChecksPage },
  { method: 'GET', path: `${repository}/runs/{check_run_id}`, handle: checkPage },
  { method: 'GET', path: `${repository}/actions/runs/{run_id}`, handle: workflowRunPage },
  { method: 'GET', path: `${repository}/blob/{path}`, handle: contentPage },
  { method: 'GET', path: `${repository}/tree/{path}`, handle: contentPage },
  { method: 'GET', path: `${repository}/commit/{ref}`, handle: commitPage },
];
