import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../model/errors.ts';
import { unusableFolder } from './cache-folder.ts';
import { type BuildTarget, type CompileRecipe, recipeFor } from './compile-recipe.ts';
import type { Diagnostic } from './diagnostics.ts';
import { isElf } from './elf-file.ts';
import { pruneConfig, readTransitive } from './object-key.ts';
import { explainRun, requireElf, runTool } from './run-tool.ts';
import type { Toolchain } from './toolchain.ts';

export interface BuildRequest {
  /** Folder with every source and header. */
  readonly folder: string;
  /** The .cpp and .cu files, relative to it. */
  readonly sources: readonly string[];
  /** AddressSanitizer and UndefinedBehaviorSanitizer, ending at the first fault. Not for a device. */
  readonly sanitize: boolean;
  /** Needed where there are .cu sources; default host. */
  readonly target?: BuildTarget;
}

export interface ObjectFile {
  readonly source: string;
  readonly path: string;
  readonly key: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly cached: boolean;
  /** What ptxas says about the kernels of a .cu file compiled for devices; else empty. */
  readonly resources: string;
}

/** One source, with its texts as they were when its key was made. */
interface Unit {
  readonly source: string;
  readonly recipe: CompileRecipe;
  readonly texts: ReadonlyMap<string, string>;
  readonly key: string;
  readonly path: string;
}

export function sha256(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}\n`).update(part);
  return hash.digest('hex');
}

/** Two builds at once that need the same object wait for one compilation. */
const compiling = new Map<string, Promise<ObjectFile>>();

export async function compileSource(
  toolchain: Toolchain,
  request: BuildRequest,
  source: string,
  scratch: string,
): Promise<ObjectFile> {
  const unit = readUnit(toolchain, request, source);
  const { path, key } = unit;
  if (isCached(unit)) return { source, path, key, diagnostics: [], cached: true, resources: readTold(unit) };
  const started = compiling.get(path) ?? runCompiler(toolchain, request, unit, scratch);
  compiling.set(path, started);
  return started.finally(() => compiling.delete(path));
}

function readUnit(toolchain: Toolchain, request: BuildRequest, source: string): Unit {
  const { sanitize, target = 'host' } = request;
  const recipe = recipeFor(toolchain, source, { sanitize, target });
  const texts = readTexts(request.folder, source, recipe);
  if (!texts.has(source)) throw changedMeanwhile(source);
  const key = sha256(...recipe.keyParts, source, ...[...pruneConfig(texts)].flat());
  return { source, recipe, texts, key, path: join(toolchain.cacheFolder, `${key}.o`) };
}

function readTexts(folder: string, source: string, { replaced }: CompileRecipe): Map<string, string> {
  const texts = readTransitive(folder, source);
  if (replaced !== undefined) texts.delete(replaced);
  return texts;
}

async function runCompiler(
  toolchain: Toolchain,
  request: BuildRequest,
  unit: Unit,
  scratch: string,
): Promise<ObjectFile> {
  const { source, recipe, key, path } = unit;
  // A folder of its own: nvcc names its temporary files by process number, which is the same in every sandbox.
  const own = join(scratch, `${basename(source)}-${key.slice(0, 8)}`);
  mkdirSync(own, { recursive: true });
  const output = join(own, 'object.o');
  const folder = recipe.replaced === undefined ? request.folder : copyTexts(unit, own);
  // Relative names in messages and in the object: the folder's place must not change the bytes.
  const map = `${recipe.mapPrefix}${folder}/=`;
  const command = [...recipe.command, map, '-c', join(folder, source), '-o', output];
  const end = await runTool(toolchain, request.folder, own, command, recipe.access);
  // Else the object would be another text's, or the complaint would be about what no longer stands there.
  if (!isSameText(unit.texts, readTexts(request.folder, source, recipe))) throw changedMeanwhile(source);
  if (end.exitCode !== 0 || end.reason !== 'exit') {
    const diagnostics = explainRun(toolchain, folder, own, { end, what: source });
    return { source, path, key, diagnostics, cached: false, resources: '' };
  }
  requireElf(output, 'object', recipe.command[0]!, source);
  if (recipe.tellsResources) keepTold(unit, own, end.stderr.toString('utf8'));
  publish(output, path);
  return { source, path, key, diagnostics: [], cached: false, resources: readTold(unit) };
}

/** A quoted header is looked for beside the source first, so that one is replaced only where it isn't there. */
function copyTexts({ texts }: Unit, into: string): string {
  const folder = join(into, 'sources');
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of texts) writeFileSync(join(folder, file), text);
  return folder;
}

/** A damaged object, of a full disk or a compiler that did not work, counts for nothing and is written over. */
function isCached(unit: Unit): boolean {
  return isElf(unit.path, 'object') && (!unit.recipe.tellsResources || existsSync(toldPath(unit)));
}

function toldPath({ path }: Unit): string {
  return path.replace(/\.o$/, '.ptxas');
}

/** Before the object, so that no object is without. */
function keepTold(unit: Unit, scratch: string, text: string): void {
  const written = join(scratch, 'told');
  writeFileSync(written, text);
  publish(written, toldPath(unit));
}

function readTold(unit: Unit): string {
  return unit.recipe.tellsResources ? readFileSync(toldPath(unit), 'utf8') : '';
}

function isSameText(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): boolean {
  return before.size === after.size && [...before].every(([file, text]) => after.get(file) === text);
}

function changedMeanwhile(source: string): AppError {
  return new AppError(
    'ENGINE_INVALID',
    `${source}, or a header that it includes, was changed or taken away while it was compiled: run again.`,
  );
}

/** Into the cache by rename, so that a reader never sees half a file. */
export function publish(from: string, to: string): void {
  const partial = `${to}.${process.pid}.${Math.round(performance.now() * 1000)}.part`;
  try {
    copyFileSync(from, partial);
    renameSync(partial, to);
  } catch (error) {
    rmSync(partial, { force: true });
    throw unusableFolder(dirname(to), error);
  }
}
