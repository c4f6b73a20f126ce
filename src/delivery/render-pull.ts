import type { Constraints } from '../model/constraints.ts';
import { codeBlock, codeSpan, inlineText, shorten } from '../model/escape-text.ts';
import { progressInWords } from './agent-progress.ts';
import { agentsOf } from './agent-texts.ts';
import { renderDiagram } from './engine-diagram.ts';
import { gateMeaning } from './gate-meaning.ts';
import { renderGoals } from './goals.ts';
import { verdictInWords } from './headline.ts';
import { limitBody } from './limit-body.ts';
import { details, link, paragraphs } from './markdown.ts';
import { renderProvenance } from './provenance-summary.ts';
import { engineName, type RunView } from './run-view.ts';

/** Title of the engine's pull request; plain text of at most 200 characters. */
export function renderPullTitle(view: RunView): string {
  const { constraints } = view.run.state;
  if (constraints === undefined) return `Engine of run ${view.run.number}`;
  const { hardware, numerics } = constraints;
  const title = `Engine ${constraints.name}: ${modelName(constraints)} in ${numerics.weights} on ${hardware.platform} (${hardware.arch})`;
  return shorten(title.replace(/[\r\n@#<>]/g, ' '), 200);
}

function modelName(constraints: Constraints): string {
  const { model } = constraints;
  if ('id' in model) return model.id;
  return 'config' in model ? 'a model given by its config' : 'a local model';
}

/**
 * Body of the engine's pull request. `closes` only once the verdict passed: from then on merging it closes the issue.
 */
export function renderPullBody(view: RunView, options: { readonly closes: boolean }): string {
  const { plan, engine, run } = view;
  const body = paragraphs(
    renderOpening(view, options.closes),
    renderState(view, options.closes),
    '## What was asked for',
    renderRequest(run.state.input.text),
    plan !== undefined && paragraphs('## The engine', renderDiagram(plan)),
    view.planText !== undefined &&
      details(
        'Plan: what fills each part, memory, physical limit',
        view.planText.replace(/^## Plan: .*\n/, '').trim(),
      ),
    engine !== undefined && paragraphs('## Where it comes from', renderProvenance(engine)),
    '## Build and run',
    renderBuild(view),
    '## What is checked',
    renderChecks(view),
  );
  return limitBody(body, 'Cut here: a description holds no more. The engine folder has the rest.');
}

/** An inline model config can be long; the description has more to say. */
const longestRequest = 20_000;

function renderRequest(text: string): string {
  const shown = codeBlock(shorten(text, longestRequest), 'yaml');
  return text.length <= longestRequest
    ? shown
    : `${shown}\n\nThe engine folder has all of it in \`constraints.yaml\`.`;
}

function renderOpening({ run, links }: RunView, closes: boolean): string {
  const { source } = run;
  const asked =
    closes && source.kind === 'issue' ? `Closes #${source.number}.` : `Asked for in #${source.number}.`;
  return `${asked} Made by MetaInfer Bot in ${link(`run ${run.number}`, links.dashboard)}.`;
}

function renderState(view: RunView, closes: boolean): string {
  const { report } = view;
  const work = agentsOf(view);
  const isUnfinished = work?.contracts.some(({ status }) => status !== 'accepted') === true;
  if (!closes && work !== undefined && work.stop !== null && isUnfinished)
    return `**Incomplete**: the model that writes what knowledge does not hold came no further (${progressInWords(work)}). What is here compiles file by file, and is no engine yet. The status comment says what can be done.`;
  if (!closes && work !== undefined && isUnfinished) {
    return `**Not complete yet**: a model is writing what knowledge does not hold, phase by phase, one commit each (${progressInWords(work)} as this was written). Until all of it is here the engine does not build.`;
  }
  if (!closes || report === undefined) {
    return 'This stays a draft until a self-hosted runner has built it, verified it against an independent reference and timed it. The check **metainfer** has the verdict.';
  }
  return paragraphs(`**Passed**: ${inlineText(verdictInWords(report))}.`, renderGoals(report));
}

function renderBuild(view: RunView): string {
  const { state } = view.run;
  const folder = state.github?.enginePath ?? `engines/${engineName(view)}`;
  const branch = state.github?.branch;
  const commands = [
    ...(branch === undefined ? [] : [`git fetch origin ${branch} && git switch ${branch}`]),
    `cd ${folder}`,
    'cmake -B build && cmake --build build',
    view.plan?.tokenizer.model === 'none'
      ? 'build/engine MODEL --ids 1,2,3 --max-tokens 64'
      : 'build/engine MODEL --prompt "Once upon a time" --max-tokens 64',
  ];
  return paragraphs(
    codeBlock(commands.join('\n'), 'sh'),
    `\`MODEL\` is a folder with the model's \`config.json\` and \`*.safetensors\`${view.plan?.tokenizer.model === 'none' ? '' : ' and `tokenizer.json`'}. ${needs(view)}`,
  );
}

function needs({ run }: RunView): string {
  return run.state.constraints?.hardware.platform === 'cuda'
    ? 'C++20 and CUDA C++: it takes nvcc of the CUDA toolkit to compile and a GPU to run, and no library beyond these.'
    : 'C++20, no dependency beyond the standard library.';
}

function renderChecks({ run }: RunView): string {
  const gates = Object.entries(gateMeaning).map(([gate, meaning]) => `- \`${gate}\`: ${meaning}`);
  const asked = run.state.constraints?.goals;
  const goals = [
    ...(asked?.require ?? []).map((goal) => `- ${codeSpan(goal.metric)} ${codeSpan(goal.written)}`),
    ...(asked === undefined
      ? []
      : [
          `- mean KLD to the reference \`<= ${asked.fidelity.mean_kld}\`, top-1 agreement \`>= ${asked.fidelity.top1_agreement}\``,
        ]),
  ];
  return paragraphs(
    'The engine never reports on itself: a harness that it cannot change runs it in a sandbox and does all measuring and comparing.',
    details('Gates, in order', gates.join('\n')),
    goals.length > 0 && `The goals of the constraint file:\n\n${goals.join('\n')}`,
  );
}
