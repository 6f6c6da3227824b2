import { join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { readState, setAside, stateNames, writeAtomic } from '../../base/files/file-state.ts';
import { t } from '../../base/text/message.ts';
import { grouped, sha256 } from '../../base/values.ts';
import { folderAt, placesOf, type Kit } from '../../kit/kit.ts';
import { isLineDay, type LinePlace } from '../../lines/folders.ts';
import { type Line, lineJson, type Log, type SharedLog } from '../../lines/line.ts';

/**
 * All lines and long texts of a project on their way from files into a database, or back. Each line keeps its id, so that a
 * move which was cut goes on where it was: what is there already is left out. What was moved is compared, and the source is
 * kept aside.
 */

/** One place that has all lines of a project, or gets them. */
export interface Side {
  /** For people. */
  name: string;
  /** What has the lines, each with the nouns that are put there; the first takes all others. */
  logs: readonly { log: Log; only?: string | undefined }[];
  texts(): Promise<string[]>;
  text(name: string): Promise<string | undefined>;
  putText(name: string, text: string): Promise<void>;
  /** Keeps it from being used any more, without removing it; answers where it is then. */
  setAside(): Promise<string>;
}

export interface Moved {
  from: string;
  to: string;
  lines: number;
  /** How many of them were there already. */
  known: number;
  texts: number;
  /** The same number of both sides once all was moved: of the ids and contents of all lines. */
  digest: string;
  isDryRun: boolean;
  aside?: string;
}

const AT_ONCE = 1_000;

export interface Moving {
  isDryRun: boolean;
  tell(note: string): void;
  signal: AbortSignal;
}

const nounOf = ({ events: [first] }: Line): string => first?.of.split('/', 1)[0] ?? '';

export async function moveLines(from: Side, to: Side, { isDryRun, tell, signal }: Moving): Promise<Moved> {
  const there = await digests(to, signal);
  const wanted = new Map<string, string>();
  let waiting: Line[] = [];
  let known = 0;
  const put = async (): Promise<void> => {
    const parts = grouped(waiting, (line) => to.logs.find(({ only }) => only === nounOf(line)) ?? to.logs[0]);
    waiting = [];
    for (const [target, lines] of parts) await target?.log.put(lines);
    tell(t`${wanted.size} lines so far`);
  };
  for await (const line of linesOf(from, signal)) {
    if (wanted.has(line.id)) continue;
    wanted.set(line.id, digestOf(line));
    if (there.has(line.id)) known += 1;
    else if (!isDryRun) waiting.push(line);
    if (waiting.length >= AT_ONCE) await put();
  }
  if (waiting.length > 0) await put();
  const names = await from.texts();
  const moved = { from: from.name, to: to.name, lines: wanted.size, known, texts: names.length, isDryRun };
  const digest = digestOfAll(wanted);
  if (isDryRun) return { ...moved, digest };
  for (const name of names) {
    signal.throwIfAborted();
    const text = await from.text(name);
    if (text !== undefined && (await to.text(name)) !== text) await to.putText(name, text);
  }
  const after = await digests(to, signal);
  const arrived = new Map([...wanted.keys()].map((id) => [id, after.get(id) ?? '']));
  if (digestOfAll(arrived) !== digest)
    throw new BmadError('conflict', t`What is in ${to.name} now is not what was moved from ${from.name}.`, {
      hint: t`Someone may have written or forgotten something meanwhile. Both are as they were; stop other servers of the project and move again.`,
    });
  return { ...moved, digest, aside: await from.setAside() };
}

async function* linesOf({ logs }: Side, signal: AbortSignal): AsyncIterable<Line> {
  for (const { log } of logs)
    for await (const { lines } of log.read(new Map())) {
      signal.throwIfAborted();
      for (const { line } of lines) yield line;
    }
}

async function digests(side: Side, signal: AbortSignal): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const line of linesOf(side, signal)) found.set(line.id, digestOf(line));
  return found;
}

const DIGITS = 16;
const digestOf = (line: Line): string => sha256(lineJson(line)).slice(0, DIGITS);

const digestOfAll = (lines: ReadonlyMap<string, string>): string =>
  sha256(
    [...lines]
      .map((entry) => entry.join(' '))
      .sort()
      .join('\n'),
  ).slice(0, DIGITS);

const TEXT_BYTES = 10_000_000;
const TEXT_NAME = /^task-[\w-]+(?:\.[\w-]+)*\.md$/;

/** The files of a project: lines with their mirror, receipts, and the texts of tasks. */
export function filesSide(
  kit: Kit,
  { log, places }: { log: Log; places: readonly LinePlace[] },
  receipts: Log,
): Side {
  // A project is written by others too: nothing in it may lead out.
  const folders = placesOf(kit, 'tasks').map((place) => ({
    folder: folderAt(place),
    inside: place.owner === 'project' ? place.base : undefined,
  }));
  const [own] = folders;
  return {
    name: t`the files of the project`,
    logs: [{ log }, { log: receipts, only: 'receipt' }],
    async texts() {
      const names = await Promise.all(folders.map(({ folder, inside }) => stateNames(folder, inside)));
      return [...new Set(names.flat().filter((name) => TEXT_NAME.test(name)))].sort();
    },
    async text(name) {
      for (const { folder, inside } of folders) {
        const text = await readState(join(folder, name), { maxBytes: TEXT_BYTES, inside });
        if (text !== undefined) return text;
      }
      return undefined;
    },
    async putText(name, text) {
      if (!TEXT_NAME.test(name) || own === undefined) return;
      await writeAtomic(join(own.folder, name), text, { inside: own.inside });
    },
    async setAside() {
      const all = places.flatMap(({ folder, mirror }) =>
        mirror === undefined ? [folder] : [folder, mirror],
      );
      for (const folder of new Set(all))
        for (const name of (await stateNames(folder)).filter(isLineDay)) await setAside(join(folder, name));
      return t`beside where it was, in folders with "moved" in their names`;
    },
  };
}

/** A project in a database. Its receipts are asked for by their noun. */
export function databaseSide(
  name: string,
  logs: { all: SharedLog & { textNames(): Promise<string[]> }; receipts: SharedLog },
  close: () => Promise<void>,
): Side {
  const { all, receipts } = logs;
  return {
    name,
    logs: [{ log: all }, { log: receipts, only: 'receipt' }],
    texts: () => all.textNames(),
    text: (each) => all.text(each),
    putText: (each, text) => all.putText(each, text),
    async setAside() {
      await close();
      return t`in the database, where the project is marked as moved to files`;
    },
  };
}
