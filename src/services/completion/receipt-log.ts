import { t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { ours } from '../../base/expected.ts';
import { lastLines, readLog } from '../../base/files/file-log.ts';
import { readStateBytes } from '../../base/files/file-state.ts';
import { jsonIn, jsonObject } from '../../base/parse/json.ts';
import { happenedIn } from '../../lines/line.ts';
import { troubleText, type PlacedLine } from '../../lines/log.ts';
import { ReceiptChain, type Chain, type OldNote } from './chain.ts';
import {
  isCount,
  OLD_LOG,
  preparePlace,
  sealed,
  type Link,
  type Receipt,
  type ReceiptBody,
  type ReceiptPlace,
} from './receipts.ts';

const NOUN = 'receipt/';
const VERDICT = 'verdict';
const NOTE = 'written';

/** So many are read for all but a check of everything, however many there are; more where these say nothing. */
const LATEST = 100;
const MORE = 1_000;
/** The end of a file of an earlier version has a few hundred. */
const END_BYTES = 256 * 1024;

/** All receipts, each checked; a list of thousands takes its time. */
export async function readChain(place: ReceiptPlace): Promise<Chain> {
  const chain = new ReceiptChain();
  for (const { folder, inside } of placesIn(place))
    await readLog(
      join(folder, OLD_LOG),
      undefined,
      () => undefined,
      (text) => addText(chain, text),
      inside,
    );
  for await (const { lines } of place.log.read(new Map())) for (const each of lines) addLine(chain, each);
  for (const trouble of place.log.troubles()) chain.damaged(troubleText(trouble));
  const links: Link[] = [];
  for await (const { lines } of place.written.read(new Map())) links.push(...lines.flatMap(linksIn));
  return chain.finish({ links, old: await oldNote(place) });
}

/** The latest ones: as many as are asked for, or all where there are fewer. Of what came before, nothing is read. */
export async function readLatest(place: ReceiptPlace, least = LATEST): Promise<Chain> {
  const chain = new ReceiptChain();
  const lines = await place.log.last(least);
  // Lines began where that file ended.
  if (lines.length < least)
    for (const { folder, inside } of placesIn(place))
      for (const text of (await lastLines(join(folder, OLD_LOG), END_BYTES, inside)) ?? [])
        addText(chain, text);
  for (const each of lines) addLine(chain, each);
  const links = (await place.written.last(least)).flatMap(linksIn);
  return chain.finish({ links, old: await oldNote(place) }, true);
}

/** The latest, and more of them where none of the first says what is looked for. */
export async function findLatest<T>(
  place: ReceiptPlace,
  find: (chain: Chain) => T | undefined,
): Promise<{ chain: Chain; found: T | undefined }> {
  const chain = await readLatest(place);
  const found = find(chain);
  if (found !== undefined || chain.count <= chain.intact.length) return { chain, found };
  const more = await readLatest(place, MORE);
  return { chain: more, found: find(more) };
}

/** The user's own first: what the project has may continue it. */
const placesIn = ({ folder, inside, also }: ReceiptPlace) => [
  ...(also === undefined ? [] : [also]),
  { folder, inside },
];

/** A line of the file of an earlier version, which counts only as it was written, to the byte. */
function addText(chain: ReceiptChain, text: string): void {
  const value = jsonIn(text);
  chain.add(value, OLD_LOG, { asWritten: JSON.stringify(value) === text });
}

function addLine(chain: ReceiptChain, { line, file }: PlacedLine): void {
  for (const { of, do: verb, data, newer } of happenedIn(line))
    if (of.startsWith(NOUN) && verb === VERDICT) chain.add(data, file, { newer });
}

function linksIn({ line }: PlacedLine): Link[] {
  return line.events.flatMap(({ of, do: verb, data: { seq, hash } }) =>
    of.startsWith(NOUN) && verb === NOTE && isCount(seq) && typeof hash === 'string' ? [{ seq, hash }] : [],
  );
}

/** The end of the chain as an earlier version noted it; nothing when it never did. */
async function oldNote({ anchor }: ReceiptPlace): Promise<OldNote | undefined> {
  const bytes = await readStateBytes(join(anchor, 'head.json')).catch(() => undefined);
  const { seq, hash, from, next } = (jsonObject(bytes?.toString('utf8') ?? '') ?? {}) as Partial<OldNote>;
  if (!isCount(seq) || typeof hash !== 'string') return undefined;
  // The first versions noted the end alone, which says nothing about what came before it.
  const since = isCount(from) ? from : seq;
  return { seq, hash, from: since, ...(isCount(next?.seq) && typeof next.hash === 'string' ? { next } : {}) };
}

/**
 * Writes a verdict after all that are there, then notes that it was written here. Nobody waits for anybody: two that are
 * written at the same moment follow the same ones, and the next follows both. A crash between the two leaves a receipt that
 * proves nothing, and all others as they were.
 */
export async function addReceipt(
  place: ReceiptPlace,
  body: ReceiptBody,
): Promise<{ receipt: Receipt; file: string; notes: string[] }> {
  await preparePlace(place);
  const receipt = sealed(body, (await readLatest(place)).heads);
  const { seq, hash } = receipt;
  const of = NOUN + hash.slice(0, 16);
  const done = await place.log.append([{ of, after: [], do: VERDICT, data: { ...receipt } }]);
  const notes: string[] = [];
  await place.written.append([{ of, after: [], do: NOTE, data: { seq, hash } }]).catch(
    ours(({ message }) => {
      notes.push(t`What was written could not be recorded outside the project: ${message}`);
      return undefined;
    }),
  );
  return { receipt, file: 'file' in done ? join(place.folder, done.file) : place.folder, notes };
}
