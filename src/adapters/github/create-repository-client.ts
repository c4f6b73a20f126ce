import { downloadArtifact } from './artifacts.ts';
import { createCheck, updateCheck } from './checks.ts';
import { createComment, replyToReviewComment, upsertComment } from './comments.ts';
import { commitFiles } from './commit-files.ts';
import { createReview } from './create-review.ts';
import { dispatchWorkflow } from './dispatch-workflow.ts';
import { markReady } from './mark-ready.ts';
import { listPullFiles, openPull, readPull, updatePullBody } from './pulls.ts';
import { readBranch } from './read-branch.ts';
import {
  addLabel,
  grantedPermissions,
  listFolder,
  permissionOf,
  react,
  readFile,
  readIssue,
  removeLabel,
} from './reads.ts';
import type { RepositoryClient } from './repository-client.ts';
import type { RepositorySession } from './repository-session.ts';
import { requestReviewers } from './request-reviewers.ts';
import {
  cancelWorkflowRun,
  findWorkflowRun,
  listWorkflowJobs,
  readWorkflow,
  readWorkflowRun,
} from './workflows.ts';

/** The operations of one repository, bound to its session. */
export function createRepositoryClient(session: RepositorySession): RepositoryClient {
  function bind<Arguments extends unknown[], Result>(
    operation: (session: RepositorySession, ...rest: Arguments) => Result,
  ): (...rest: Arguments) => Result {
    return (...rest) => operation(session, ...rest);
  }
  return {
    repository: session.repository,
    permissionOf: bind(permissionOf),
    readFile: bind(readFile),
    listFolder: bind(listFolder),
    readBranch: bind(readBranch),
    readIssue: bind(readIssue),
    readPull: bind(readPull),
    listPullFiles: bind(listPullFiles),
    grantedPermissions: bind(grantedPermissions),
    react: bind(react),
    addLabel: bind(addLabel),
    removeLabel: bind(removeLabel),
    upsertComment: bind(upsertComment),
    createComment: bind(createComment),
    replyToReviewComment: bind(replyToReviewComment),
    commitFiles: bind(commitFiles),
    openPull: bind(openPull),
    markReady: bind(markReady),
    updatePullBody: bind(updatePullBody),
    requestReviewers: bind(requestReviewers),
    createReview: bind(createReview),
    createCheck: bind(createCheck),
    updateCheck: bind(updateCheck),
    readWorkflow: bind(readWorkflow),
    dispatchWorkflow: bind(dispatchWorkflow),
    findWorkflowRun: bind(findWorkflowRun),
    readWorkflowRun: bind(readWorkflowRun),
    listWorkflowJobs: bind(listWorkflowJobs),
    cancelWorkflowRun: bind(cancelWorkflowRun),
    downloadArtifact: bind(downloadArtifact),
  };
}
