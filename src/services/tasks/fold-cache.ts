import { readState, writeAtomic } from '../../base/files/file-state.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { VERSION } from '../../base/product.ts';
import type { Happened } from '../../lines/line.ts';
import type { Task } from '../../model/task.ts';

/** An entity that is known without its lines: what they made of it, those that nothing follows, and where they are. */
export interface Settled {
  heads: readonly string[];
  files: readonly string[];
}

/** What a reader knows, so that the next process need not read ten thousand tasks that have ended. */
export interface Folded {
  mark: ReadonlyMap<string, string>;
  ended: readonly (Settled & { task: Task })[];
  names: ReadonlyMap<string, Settled>;
  /** The lines about all others. */
  events: ReadonlyMap<string, readonly { file: string; event: Happened }[]>;
}

export interface FoldPlace {
  path: string;
  /** The folders that it was read from. */
  of: string;
}

/** Raised with each change of what lines make of a task. */
const FOLD = 1;
const FOLD_BYTES = 200_000_000;

const keyOf = ({ of }: FoldPlace): string => `${VERSION} ${FOLD} ${of}`;

/** Nothing where it is missing, of another version or of other folders: lines have everything. */
export async function readFold(place: FoldPlace): Promise<Folded | undefined> {
  const text = await readState(place.path, { maxBytes: FOLD_BYTES }).catch(() => undefined);
  const found = jsonObject(text ?? '');
  if (found === undefined || found['key'] !== keyOf(place)) return undefined;
  const { mark, ended, names, events } = found as unknown as { [K in keyof Folded]: [] };
  return { mark: new Map(mark), ended, names: new Map(names), events: new Map(events) };
}

/** One that cannot be written costs the next process its time, and nothing else. */
export async function writeFold(place: FoldPlace, { mark, ended, names, events }: Folded): Promise<void> {
  const text = JSON.stringify({
    key: keyOf(place),
    mark: [...mark],
    ended,
    names: [...names],
    events: [...events],
  });
  await writeAtomic(place.path, text).catch(() => undefined);
}
