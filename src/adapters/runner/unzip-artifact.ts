import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';

/** What a runner's artifact may hold and how large each file may be, in bytes, inflated. */
export const artifactFiles = {
  'result.json': 2 ** 17,
  'report.json': 8 * 2 ** 20,
  'log.txt': 4 * 2 ** 20,
} as const;
export type ArtifactFile = keyof typeof artifactFiles;

/** Of the zip itself: what a download may bring at most. */
export const maxArtifactBytes = 8 * 2 ** 20;

// JSON of gates and log lines deflates 5 to 30 times; below this size a ratio says nothing.
const maxRatio = 200;
const ratioCountsFrom = 2 ** 16;

/** Why a zip is not unpacked, as a sentence for a person. */
export class ArtifactRefusal extends Error {}

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
    for (const [name, entry] of entries) files.set(name, await inflate(archive, entry, artifactFiles[name]));
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
  const { uncompressedSize, compressedSize } = entry;
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
  return name;
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
