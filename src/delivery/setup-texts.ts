import { codeBlock, codeSpan, inlineText } from '../model/escape-text.ts';
import type { Problem } from '../model/problem.ts';
import { formatProblem } from '../model/problem.ts';
import { count, details, listWords, paragraphs } from './markdown.ts';
import type { SeenRunner } from './run-view.ts';

/** One thing that keeps a repository from verifying engines, found before a dispatch. */
export type SetupProblem =
  | { readonly kind: 'workflow-missing'; readonly path: string; readonly text: string }
  | { readonly kind: 'workflow-differs'; readonly path: string; readonly text: string }
  | { readonly kind: 'workflow-disabled'; readonly path: string; readonly state: string }
  | { readonly kind: 'actions-disabled' }
  | {
      readonly kind: 'permission-missing';
      readonly permission: string;
      readonly needed: 'read' | 'write';
      readonly granted: string | null;
    }
  | {
      readonly kind: 'labels-unserved';
      readonly labels: readonly string[];
      readonly seenRunners: readonly SeenRunner[];
    }
  | { readonly kind: 'config-invalid'; readonly path: string; readonly problems: readonly Problem[] };

export interface SetupPlace {
  /** `https://github.com`, without a slash at its end. */
  readonly githubUrl: string;
  /** `owner/name`. */
  readonly repository: string;
  readonly defaultBranch: string;
}

/** Longer addresses are cut by proxies and browsers. */
const longestUrl = 8000;

/** What is to be set up, each with how; the answer where a run stops before its dispatch. */
export function renderSetupProblem(problems: readonly SetupProblem[], place: SetupPlace): string {
  return paragraphs(
    `**This repository is not ready to verify engines: ${count(problems.length, 'thing')} to set up.** Then comment \`/metainfer retry\`.`,
    renderSetup(problems, place),
  );
}

/** The list alone. */
export function renderSetup(problems: readonly SetupProblem[], place: SetupPlace): string {
  return problems.map((problem, index) => `${index + 1}. ${indent(renderOne(problem, place))}`).join('\n');
}

function indent(text: string): string {
  return text.replace(/\n(?!\n|$)/g, '\n   ');
}

function renderOne(problem: SetupProblem, place: SetupPlace): string {
  switch (problem.kind) {
    case 'workflow-missing':
      return renderMissing(problem, place);
    case 'workflow-differs':
      return renderDiffers(problem, place);
    case 'workflow-disabled':
      return `**The workflow ${codeSpan(problem.path)} is switched off** (${codeSpan(problem.state)}). Somebody with write access can enable it: **Actions**, choose the workflow, **Enable workflow**.`;
    case 'actions-disabled':
      return `**GitHub Actions is off in this repository.** Its administrator can allow it: [Settings → Actions → General](${place.githubUrl}/${place.repository}/settings/actions).`;
    case 'permission-missing':
      return `**The app lacks the permission ${codeSpan(`${problem.permission}: ${problem.needed}`)}** (granted: ${codeSpan(problem.granted ?? 'none')}). An owner of the account that installed it can accept the app's current permissions: **Settings → GitHub Apps → Configure → Review request**.`;
    case 'labels-unserved':
      return renderLabels(problem);
    case 'config-invalid':
      return paragraphs(
        `**${codeSpan(problem.path)} on ${codeSpan(place.defaultBranch)} has ${count(problem.problems.length, 'problem')}.** Somebody with write access can correct it:`,
        problem.problems.map((each) => `- ${inlineText(formatProblem(each))}`).join('\n'),
      );
  }
}

function renderMissing(problem: SetupProblem & { kind: 'workflow-missing' }, place: SetupPlace): string {
  const { githubUrl, repository, defaultBranch } = place;
  const url = `${githubUrl}/${repository}/new/${encodeURIComponent(defaultBranch)}?filename=${encodeURIComponent(problem.path)}&value=${encodeInLink(problem.text)}`;
  const how =
    url.length <= longestUrl
      ? `Somebody with write access can [open this link](${url}) and press **Commit changes**; the file is filled in.`
      : `Somebody with write access can [create it](${githubUrl}/${repository}/new/${encodeURIComponent(defaultBranch)}?filename=${encodeURIComponent(problem.path)}) with exactly the text below.`;
  return paragraphs(
    `**The workflow file ${codeSpan(problem.path)} is not on ${codeSpan(defaultBranch)}.** The bot has no right to write workflow files: what runs on your machines is yours to decide. ${how}`,
    details('The exact text', codeBlock(problem.text, 'yaml')),
  );
}

/** A parenthesis would end the Markdown link that the address stands in. */
function encodeInLink(text: string): string {
  return encodeURIComponent(text).replaceAll('(', '%28').replaceAll(')', '%29');
}

function renderDiffers(problem: SetupProblem & { kind: 'workflow-differs' }, place: SetupPlace): string {
  const { githubUrl, repository, defaultBranch } = place;
  const path = problem.path.split('/').map(encodeURIComponent).join('/');
  return paragraphs(
    `**${codeSpan(problem.path)} on ${codeSpan(defaultBranch)} has another text than the one the bot starts.** It decides what runs on your machines, so nothing but the pinned text is started. Somebody with write access can [edit it](${githubUrl}/${repository}/edit/${encodeURIComponent(defaultBranch)}/${path}) to be exactly:`,
    details('The exact text', codeBlock(problem.text, 'yaml')),
  );
}

function renderLabels(problem: SetupProblem & { kind: 'labels-unserved' }): string {
  const labels = listWords(problem.labels.map((label) => codeSpan(label)));
  return paragraphs(
    `**No runner has taken a job with the labels ${labels} here in the last week.** If none is registered, the administrator of this repository can register one under **Settings → Actions → Runners → New self-hosted runner**, with these labels.`,
    renderSeen(problem.seenRunners),
  );
}

/** The runners that took jobs of this repository before, with their labels. */
export function renderSeen(runners: readonly SeenRunner[]): string {
  if (runners.length === 0) return 'No runner has taken a job of this repository yet.';
  const lines = runners
    .slice(0, 10)
    .map(
      ({ name, labels }) =>
        `- ${codeSpan(name)} with ${listWords(labels.slice(0, 20).map((label) => codeSpan(label)))}`,
    );
  return `Runners seen here:\n${lines.join('\n')}`;
}
