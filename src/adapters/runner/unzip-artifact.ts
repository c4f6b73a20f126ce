import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { ArtifactRefusal } from './artifact-refusal.ts';

/** What a runner's artifact may hold and how much of each file is kept, in bytes, inflated. */
export const artifactFiles = {
  'result.json': 2 ** 17,
  'report.json': 8 * 2 ** 20,
  'log.txt': 4 * 2 ** 20,
} as const;
export type ArtifactFile = keyof typeof artifactFiles;

/** Of the zip itself: what a download may bring at most. */
export const maxArtifactBytes = 8 * 2 ** 20;

/** Of a log that is longer only the end is kept; beyond this size nobody unpacks it to find the end. */
const maxLogBytes = 2 ** 26;

// JSON of gates deflates 5 to 30 times; below this size a ratio says nothing.
const maxRatio = 200;
const ratioCountsFrom = 2 ** 20;

/**
 * Unpacks an artifact in memory. Names, kinds and declared sizes are judged before anything is inflated; the inflated
 * bytes are counted again, since a zip may lie.
 * @throws ArtifactRefusal
 */
export async function unzipArtifact(zip: Buffer): Promise<ReadonlyMap<ArtifactFile, Buffer>> {
  if (zip.length > maxArtifactBytes) {
    throw new ArtifactRefusal(`the artifact has ${zip.length} bytes; at most ${maxArtifactBytes} are read`);
  }
  try {
    const archive = await fromBufferPromise(zip, { strictFileNames: true });
    const entries = new Map<ArtifactFile, Entry>();
    for await (const entry of archive.eachEntry()) {
      const name = acceptEntry(entry);
      if (entries.has(name)) throw new ArtifactRefusal(`the artifact holds ${name} twice`);
      entries.set(name, entry);
    }
    const files = new Map<ArtifactFile, Buffer>();
    for (const [name, entry] of entries) {
      const bytes = isLog(name) ? inflateEnd(archive, entry) : inflate(archive, entry, artifactFiles[name]);
      files.set(name, await bytes);
    }
    return files;
  } catch (error) {
    if (error instanceof ArtifactRefusal) throw error;
    throw new ArtifactRefusal(`the artifact is no sound zip file: ${(error as Error).message.slice(0, 200)}`);
  }
}

const fileTypeMask = 0o170000;
const regularFile = 0o100000;

function acceptEntry(entry: Entry): ArtifactFile {
  const shown = JSON.stringify(entry.fileName.slice(0, 100));
  const name = (Object.keys(artifactFiles) as ArtifactFile[]).find((file) => file === entry.fileName);
  if (name === undefined) {
    throw new ArtifactRefusal(
      `the artifact holds ${shown}; it may hold ${Object.keys(artifactFiles).join(', ')}`,
    );
  }
  const type = (entry.externalFileAttributes >>> 16) & fileTypeMask;
  if (type !== 0 && type !== regularFile) throw new ArtifactRefusal(`${shown} is not a plain file`);
  if (entry.isEncrypted()) throw new ArtifactRefusal(`${shown} is encrypted`);
  checkSize(name, entry);
  return name;
}

/** A log tells people what happened and decides nothing: too much of it is cut, not refused. */
function isLog(name: ArtifactFile): boolean {
  return name === 'log.txt';
}

function checkSize(name: ArtifactFile, { uncompressedSize, compressedSize }: Entry): void {
  if (isLog(name)) return;
  const shown = JSON.stringify(name);
  if (uncompressedSize > artifactFiles[name]) {
    throw new ArtifactRefusal(
      `${shown} has ${uncompressedSize} bytes unpacked; at most ${artifactFiles[name]} are read`,
    );
  }
  if (uncompressedSize > ratioCountsFrom && uncompressedSize > maxRatio * compressedSize) {
    throw new ArtifactRefusal(
      `${shown} unpacks to ${Math.round(uncompressedSize / Math.max(1, compressedSize))} times its size; at most ${maxRatio} times is read`,
    );
  }
}

const cutMark = '[the beginning of this log is left out]\n';

/** The last whole lines that may be kept. */
async function inflateEnd(archive: ZipFile, entry: Entry): Promise<Buffer> {
  if (entry.uncompressedSize > maxLogBytes) {
    const mib = Math.round(entry.uncompressedSize / 2 ** 20);
    return Buffer.from(`[this log has ${mib} MiB and is left out]\n`);
  }
  const most = artifactFiles['log.txt'];
  const stream = await archive.openReadStreamPromise(entry);
  let chunks: Buffer[] = [];
  let size = 0;
  let isCut = false;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    // Joined rarely, so that a long log is not copied once per chunk.
    if (size <= 2 * most) continue;
    chunks = [Buffer.concat(chunks).subarray(-most)];
    size = most;
    isCut = true;
  }
  const text = Buffer.concat(chunks);
  if (!isCut && size <= most) return text;
  const end = text.subarray(-most);
  return Buffer.concat([Buffer.from(cutMark), end.subarray(end.indexOf(10) + 1)]);
}

async function inflate(archive: ZipFile, entry: Entry, maxBytes: number): Promise<Buffer> {
  const stream = await archive.openReadStreamPromise(entry);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new ArtifactRefusal(`${entry.fileName} unpacks to more than it declares`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
