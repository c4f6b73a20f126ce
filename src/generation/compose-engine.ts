import type { Platform, SelectedContract, Selection } from '../model/catalog.ts';
import { isConfigConstant } from '../model/config-constants.ts';
import type { Constraints } from '../model/constraints.ts';
import { findConfigReferences, tokenizeCpp } from '../model/cpp-tokens.ts';
import type { EngineFile, EngineSources, FileProvenance } from '../model/engine.ts';
import { AppError } from '../model/errors.ts';
import type { ModelFacts, TokenizerFacts } from '../model/model-facts.ts';
import { formatProblem } from '../model/problem.ts';
import { checkIncludes } from './check-includes.ts';
import { type ConfigInput, renderConfigHeader } from './config-header.ts';
import { licenseText, renderCmake, renderReadme } from './engine-texts.ts';
import { findDeadCode } from './find-dead-code.ts';
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
}

interface Part {
  readonly file: EngineFile;
  readonly origin: FileProvenance['origin'];
}

/**
 * Contracts and realizations → the files of an engine. Pure: the same inputs give the same bytes. Throws NOT_COVERED
 * where a contract has no realization, and KNOWLEDGE_INVALID where the realizations do not fit
 * together: a constant that no contract lists, a part that nothing refers to, an include that is not allowed.
 */
export function composeEngine(input: ComposeInput): EngineSources {
  const { constraints, selection, platform, facts } = input;
  if (selection.missing.length > 0) throw new AppError('NOT_COVERED', selection.missing.join('\n'));
  const code = selection.contracts.flatMap(partsOf).sort((a, b) => (a.file.path < b.file.path ? -1 : 1));
  const configInput = { ...toConfigInput(constraints, facts, platform), modelConfig: input.modelConfig };
  const config = renderConfig(configInput, selection, code);
  const cpp: Part[] = [
    { file: { path: 'config.h', text: config }, origin: composed('constraints.yaml and config.json') },
    ...code,
  ];
  refuseFaultyCode(cpp.map((part) => part.file));
  const lineCount = countLines(cpp.map((part) => part.file));
  const sources = code.map((part) => part.file.path).filter((path) => path.endsWith('.cpp'));
  const texts: Part[] = [
    part(
      'CMakeLists.txt',
      renderCmake(constraints.name, sources, platform, constraints.hardware.arch),
      platform.id,
    ),
    part('LICENSE', licenseText, 'LICENSE'),
    part(
      'README.md',
      renderReadme(constraints, facts, input.tokenizer, platform, lineCount),
      'constraints.yaml',
    ),
    part('constraints.yaml', input.constraintsText, 'the person who asked'),
  ];
  const parts = [...texts, ...cpp];
  const provenance = parts.map(({ file, origin }) => ({
    path: file.path,
    sha256: hashEngineFile(file.path, file.text),
    origin,
  }));
  const marker = { path: provenancePath, text: renderProvenance(constraints.name, lineCount, provenance) };
  return {
    name: constraints.name,
    files: [...parts.map((entry) => entry.file), marker],
    provenance,
    lineCount,
  };
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
    maxContext: serving.max_context,
    maxBatch: serving.max_batch,
  };
}

/** Constants that the selected contracts list; what the unit gate puts into its own config.h. */
export function listedConstants(selection: Selection): ReadonlySet<string> {
  return new Set(selection.contracts.flatMap((entry) => entry.contract.frontMatter.config));
}

/** Only what is listed and used, so that nothing in config.h is dead. */
function renderConfig(config: ConfigInput, selection: Selection, code: readonly Part[]): string {
  const used = new Set(code.flatMap(({ file }) => [...findConfigReferences(tokenizeCpp(file.text)).keys()]));
  const listed = listedConstants(selection);
  const absent = [...used].filter((name) => !listed.has(name) || !isConfigConstant(name));
  if (absent.length > 0) {
    const message = `The chosen realizations use config::${absent.join(', config::')}, which no contract of this engine lists.`;
    throw new AppError('KNOWLEDGE_INVALID', message);
  }
  return renderConfigHeader(config, used);
}

function refuseFaultyCode(files: readonly EngineFile[]): void {
  const problems = [...findDeadCode(files), ...checkIncludes(files)];
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
    file: { path: contract.header.name.replace(/\.h$/, '.cpp'), text: withoutSelectors(realization.text) },
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
  return text.replace(/^\/\/ (?:applies|requires|replaces):.*\n/gm, '');
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
