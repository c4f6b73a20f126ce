import type { AgentFile } from '../model/agent-work.ts';
import type { Platform, SelectedContract, Selection } from '../model/catalog.ts';
import { isConfigConstant } from '../model/config-constants.ts';
import type { Constraints } from '../model/constraints.ts';
import { findConfigReferences, tokenizeCpp } from '../model/cpp-tokens.ts';
import type { EngineFile, EngineSources, FileProvenance } from '../model/engine.ts';
import { AppError } from '../model/errors.ts';
import type { ModelFacts, TokenizerFacts } from '../model/model-facts.ts';
import { formatProblem } from '../model/problem.ts';
import { sourceNameOf } from '../model/source-name.ts';
import { listAgentPaths, takeAgentFiles } from './agent-sources.ts';
import { type AgentPaths, findOwnDeadCode } from './check-agent-code.ts';
import { checkIncludes } from './check-includes.ts';
import { type ConfigInput, renderConfigHeader } from './config-header.ts';
import { renderCmake } from './engine-cmake.ts';
import { licenseText, renderReadme } from './engine-texts.ts';
import { hashEngineFile, provenancePath, renderProvenance } from './provenance-file.ts';

export interface ComposeInput {
  readonly constraints: Constraints;
  /** The constraint file as the person wrote it. */
  readonly constraintsText: string;
  readonly facts: ModelFacts;
  /** config.json as read; the engine refuses weights beside another one. */
  readonly modelConfig: Readonly<Record<string, unknown>>;
  readonly tokenizer: TokenizerFacts;
  readonly selection: Selection;
  readonly platform: Platform;
  /** By contract: what agents wrote for the contracts that the selection leaves to them. */
  readonly agentFiles?: ReadonlyMap<string, AgentFile>;
  /** Leaves out what agents have not written yet, instead of refusing. */
  readonly isPartial?: boolean;
}

interface Part {
  readonly file: EngineFile;
  readonly origin: FileProvenance['origin'];
}

/**
 * Contracts, realizations and files of agents → the files of an engine. Pure: the same inputs give the same bytes.
 * Throws NOT_COVERED where a contract has neither, and KNOWLEDGE_INVALID where the realizations do not fit together: a
 * constant that no contract lists, a part that nothing refers to, an include that is not allowed. Faults of a file that
 * an agent wrote are not thrown: gates find them.
 */
export function composeEngine(input: ComposeInput): EngineSources {
  const { constraints, selection, platform, facts } = input;
  if (selection.missing.length > 0) throw new AppError('NOT_COVERED', selection.missing.join('\n'));
  const agents = takeAgentFiles(selection, input.agentFiles ?? new Map());
  if (agents.absent.length > 0 && input.isPartial !== true) refuseUnwritten(agents.absent);
  const code = [...selection.contracts.flatMap(partsOf), ...agents.parts].sort((a, b) =>
    a.file.path < b.file.path ? -1 : 1,
  );
  const config = renderConfig(input, code, agents.absent);
  const cpp: Part[] = [
    { file: { path: 'config.h', text: config }, origin: composed('constraints.yaml and config.json') },
    ...code,
  ];
  refuseFaultyCode(
    cpp.map(({ file }) => file),
    listAgentPaths(selection),
    { isIncomplete: agents.absent.length > 0, fused: listFusedNames(selection) },
  );
  const lineCount = countLines(cpp.map(({ file }) => file));
  const sources = code.map(({ file }) => file.path).filter((path) => /\.(?:cpp|cu)$/.test(path));
  const readme = renderReadme({
    ...{ constraints, facts, platform, lineCount, tokenizer: input.tokenizer },
    sourceCount: sources.length + agents.absent.length,
    agents: { written: agents.written, absent: agents.absent.map(sourceNameOf) },
  });
  const cmake = renderCmake(constraints.name, sources, platform, constraints.hardware.arch);
  const parts: Part[] = [
    part('CMakeLists.txt', cmake, platform.id),
    part('LICENSE', licenseText, 'LICENSE'),
    part('README.md', readme, 'constraints.yaml'),
    part('constraints.yaml', input.constraintsText, 'the person who asked'),
    ...cpp,
  ];
  return toSources(constraints.name, parts, lineCount);
}

function toSources(name: string, parts: readonly Part[], lineCount: number): EngineSources {
  const provenance = parts.map(({ file, origin }) => ({
    path: file.path,
    sha256: hashEngineFile(file.path, file.text),
    origin,
  }));
  const marker = { path: provenancePath, text: renderProvenance(name, lineCount, provenance) };
  return { name, files: [...parts.map(({ file }) => file), marker], provenance, lineCount };
}

function refuseUnwritten(absent: readonly SelectedContract[]): never {
  const names = absent.map((entry) => `${sourceNameOf(entry)} (${entry.contract.frontMatter.id})`);
  throw new AppError('NOT_COVERED', `Agents have yet to write ${names.join(', ')}.`);
}

/** Constants for config.h of an engine under these constraints. */
export function toConfigInput(constraints: Constraints, facts: ModelFacts, platform: Platform): ConfigInput {
  const { hardware, serving } = constraints;
  const arch = platform.archs[hardware.arch];
  if (arch === undefined) {
    const known = Object.keys(platform.archs).join(', ');
    throw new AppError(
      'NOT_COVERED',
      `hardware.arch: ${hardware.arch} is not covered on ${platform.id}; covered: ${known}`,
    );
  }
  return {
    name: constraints.name,
    facts,
    threads: hardware.threads,
    vectorWidth: arch.vectorWidth,
    onDevice: hardware.platform === 'cuda',
    weightsF16: constraints.numerics.weights === 'f16',
    maxContext: serving.max_context,
    maxBatch: serving.max_batch,
  };
}

/** Constants that the selected contracts list; what the unit gate puts into its own config.h. */
export function listedConstants(selection: Selection): ReadonlySet<string> {
  return new Set(selection.contracts.flatMap((entry) => entry.contract.frontMatter.config));
}

type ConfigSource = Pick<ComposeInput, 'constraints' | 'facts' | 'platform' | 'modelConfig' | 'selection'>;

/** config.h with every constant that a contract of this engine lists: what an agent may use of it. */
export function renderListedConfig(input: ConfigSource): string {
  return renderConfigHeader(configInputOf(input), listedConstants(input.selection));
}

function configInputOf({ constraints, facts, platform, modelConfig }: ConfigSource): ConfigInput {
  return { ...toConfigInput(constraints, facts, platform), modelConfig };
}

/**
 * Only what is listed and used, so that nothing in config.h is dead; and what a source that is still to be written may
 * use. A constant that an agent made up stays out: the compiler and the static gate say so.
 */
function renderConfig(
  input: ConfigSource,
  code: readonly Part[],
  absent: readonly SelectedContract[],
): string {
  const listed = listedConstants(input.selection);
  const isListed = (name: string): boolean => listed.has(name) && isConfigConstant(name);
  const used = code.flatMap(({ file, origin }) =>
    [...findConfigReferences(tokenizeCpp(file.text)).keys()].map((name) => ({ name, by: origin.kind })),
  );
  const unlisted = used.filter(({ name, by }) => by !== 'agent' && !isListed(name));
  if (unlisted.length > 0) {
    const names = [...new Set(unlisted.map(({ name }) => `config::${name}`))].join(', ');
    throw new AppError(
      'KNOWLEDGE_INVALID',
      `The chosen realizations use ${names}, which no contract of this engine lists.`,
    );
  }
  const later = absent.flatMap(({ contract }) => contract.frontMatter.config);
  const wanted = new Set([...used.map(({ name }) => name), ...later].filter(isListed));
  return renderConfigHeader(configInputOf(input), wanted);
}

/** Functions of contracts whose work another realization does itself: only the unit gates may call them. */
function listFusedNames({ contracts }: Selection): ReadonlySet<string> {
  const fused = new Set(contracts.flatMap(({ realization }) => realization?.fuses ?? []));
  const symbols = contracts.flatMap(({ contract }) =>
    fused.has(contract.frontMatter.id) ? contract.frontMatter.provides.symbols : [],
  );
  return new Set(symbols.flatMap(({ signature }) => /(\w+)\s*\(/.exec(signature)?.[1] ?? []));
}

function refuseFaultyCode(
  files: readonly EngineFile[],
  agents: AgentPaths,
  { isIncomplete, fused }: { readonly isIncomplete: boolean; readonly fused: ReadonlySet<string> },
): void {
  const problems = [
    // What is still to be written may refer to anything.
    ...(isIncomplete ? [] : findOwnDeadCode(files, agents, fused)),
    ...checkIncludes(files),
  ].filter(({ file }) => file === undefined || !agents.has(file));
  if (problems.length === 0) return;
  const lines = problems.map((problem) => `- ${formatProblem(problem)}`);
  throw new AppError(
    'KNOWLEDGE_INVALID',
    `The chosen realizations do not make a clean engine:\n${lines.join('\n')}`,
  );
}

function partsOf(entry: SelectedContract): Part[] {
  const { contract, realization } = entry;
  const { id, version } = contract.frontMatter;
  const header: Part = {
    file: { path: contract.header.name, text: contract.header.text },
    origin: { kind: 'contract', contract: id, version, sha256: contract.header.sha256 },
  };
  if (realization === undefined) return [header];
  const source: Part = {
    file: { path: sourceNameOf(entry), text: withoutSelectors(realization.text) },
    origin: {
      kind: 'realization',
      contract: id,
      version,
      contractSha256: contract.sha256,
      realization: `contracts/${contract.folder}/realizations/${realization.file}`,
      realizationSha256: realization.sha256,
      gateSha256: contract.gateSha256,
    },
  };
  return [header, source];
}

/** Where a realization applies matters to the planner and not to the reader of an engine made for one target. */
function withoutSelectors(text: string): string {
  return text.replace(/^\/\/ (?:applies|requires|replaces|fuses):.*\n/gm, '');
}

function part(path: string, text: string, from: string): Part {
  return { file: { path, text }, origin: composed(from) };
}

function composed(from: string): FileProvenance['origin'] {
  return { kind: 'composer', from };
}

function countLines(files: readonly EngineFile[]): number {
  return files.reduce(
    (sum, file) => sum + file.text.split('\n').length - (file.text.endsWith('\n') ? 1 : 0),
    0,
  );
}
