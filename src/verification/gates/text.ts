import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  loadReferenceTokenizer,
  type ReferenceTokenizer,
} from '../../../knowledge/contracts/text-tokenizer/reference.ts';
import type { Finding } from '../../model/report.ts';
import {
  drawFor,
  type EngineSession,
  type GateContext,
  type GateOutcome,
  makeFinding,
} from '../gate-context.ts';
import type { Random } from '../random.ts';
import { checkCommandLine } from './command-line.ts';
import { checkGeneration } from './generation-checks.ts';
import { drawText, fixedTexts } from './text-samples.ts';

const drawnTexts = 240;
const drawnSequences = 40;
const maxFindings = 5;

function show(text: string): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);
}

function readSpecials(tokenizerJson: unknown): string[] {
  const { added_tokens } = tokenizerJson as { added_tokens?: readonly { content: string }[] };
  return (added_tokens ?? []).map((token) => token.content);
}

/** Ids of drawn strings equal the reference's; a string of bytes that is not UTF-8 counts as its lossy decoding. */
async function checkEncoding(
  session: EngineSession,
  reference: ReferenceTokenizer,
  specials: readonly string[],
  random: Random,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const texts = [...fixedTexts, ...Array.from({ length: drawnTexts }, () => drawText(random, specials))];
  for (const [index, text] of texts.entries()) {
    if (findings.length >= maxFindings) break;
    const flags = { addSpecial: index % 2 === 0, parseSpecial: index % 3 !== 0 };
    const wanted = reference.encode(text, flags);
    const got = await session.encode(text, flags);
    if (wanted.join() === got.join()) continue;
    const at = wanted.findIndex((id, place) => id !== got[place]);
    const evidence = {
      text: show(text),
      at,
      wanted: wanted.slice(0, 20).join(' '),
      got: got.slice(0, 20).join(' '),
    };
    findings.push(
      makeFinding(
        'text',
        'text.tokenizer',
        `encode(${show(text)}) differs from the reference at id ${at}`,
        evidence,
      ),
    );
  }
  const broken = Buffer.from([0x61, 0xff, 0xc3, 0x28, 0xe2, 0x82, 0x62, 0xf0, 0x9f]);
  const flags = { addSpecial: false, parseSpecial: true };
  const wanted = reference.encode(new TextDecoder('utf-8', { ignoreBOM: true }).decode(broken), flags);
  const got = await session.encode(broken, flags);
  if (wanted.join() !== got.join()) {
    const evidence = { wanted: wanted.join(' '), got: got.join(' ') };
    findings.push(
      makeFinding('text', 'text.utf8', 'bytes that are not UTF-8 are not encoded as U+FFFD', evidence),
    );
  }
  return findings;
}

/** Chunks are whole characters and join to the decoding of all ids, for texts and for ids drawn at random. */
async function checkStreaming(
  session: EngineSession,
  reference: ReferenceTokenizer,
  specials: readonly string[],
  vocabularySize: number,
  random: Random,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (let index = 0; index < drawnSequences && findings.length < maxFindings; index++) {
    const flags = { addSpecial: true, parseSpecial: true };
    const isText = index % 2 === 0;
    const ids = isText
      ? reference.encode(drawText(random, specials), flags)
      : random.ids(1 + random.below(24), vocabularySize);
    const skipSpecial = index % 4 < 2;
    const wanted = reference.decode(ids, { skipSpecial });
    const chunks = await session.decodeText(ids, { skipSpecial });
    const got = Buffer.concat(chunks).toString('utf8');
    const split = chunks.findIndex((chunk) => !Buffer.from(chunk.toString('utf8')).equals(chunk));
    const evidence = { ids: ids.slice(0, 30).join(' '), wanted: show(wanted), got: show(got) };
    if (split >= 0) {
      findings.push(
        makeFinding(
          'text',
          'text.utf8',
          `chunk ${split} of a stream is not whole UTF-8 characters`,
          evidence,
        ),
      );
    } else if (wanted !== got) {
      findings.push(
        makeFinding(
          'text',
          'text.tokenizer',
          `the streamed text differs from the decoding of all ids: ${show(got)} instead of ${show(wanted)}`,
          evidence,
        ),
      );
    }
  }
  return findings;
}

/** Token ids, streamed text, stops and sampling. Without a tokenizer, what generation does with ids. */
export async function runTextGate(context: GateContext): Promise<GateOutcome> {
  const { tokenizer, facts } = context.engine;
  const random = drawFor(context, 'text');
  const session = await context.openEngine();
  try {
    if (tokenizer.model === 'none') {
      const findings = await checkGeneration(context, session, random);
      findings.push(...(await checkCommandLine(context, session, random)));
      return { findings, measurements: { tokenizer: 'none' } };
    }
    const json = JSON.parse(
      readFileSync(join(context.checkpointFolder, 'tokenizer.json'), 'utf8'),
    ) as unknown;
    const reference = loadReferenceTokenizer(json);
    const specials = readSpecials(json);
    const encoding = await checkEncoding(session, reference, specials, random);
    const streaming = await checkStreaming(session, reference, specials, facts.vocabSize, random);
    const generation = await checkGeneration(context, session, random);
    const commands = await checkCommandLine(context, session, random);
    const texts = fixedTexts.length + drawnTexts;
    return {
      findings: [...encoding, ...streaming, ...generation, ...commands],
      measurements: { tokenizer: tokenizer.model, texts, sequences: drawnSequences },
    };
  } finally {
    await session.quit();
  }
}
