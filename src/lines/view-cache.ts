import { readState, writeAtomic } from '../base/files/file-state.ts';
import { jsonObject } from '../base/parse/json.ts';
import { VERSION } from '../base/product.ts';
import type { Happened } from './line.ts';

/** What a reader of lines knows, so that the next process need not read ten thousand entities that have ended. */
export interface KeptView {
  mark: ReadonlyMap<string, string>;
  /** Entities that are known without their lines: what these made of them, and which of them nothing follows. */
  ended: { of: string; heads: readonly string[]; state: object }[];
  names: ReadonlyMap<string, readonly string[]>;
  /** The lines about all others. */
  events: Map<string, readonly { file: string; event: Happened }[]>;
}

export interface ViewPlace {
  path: string;
  /** The folders that it was read from. */
  of: string;
}

/** Raised with each change of what lines make of an entity. */
const FOLD = 2;
const KEPT_BYTES = 200_000_000;

const keyOf = ({ of }: ViewPlace): string => `${VERSION} ${FOLD} ${of}`;

/** Nothing where it is missing, of another version or of other folders: lines have everything. */
export async function readKept(place: ViewPlace): Promise<KeptView | undefined> {
  const text = await readState(place.path, { maxBytes: KEPT_BYTES }).catch(() => undefined);
  const found = jsonObject(text ?? '');
  if (found === undefined || found['key'] !== keyOf(place)) return undefined;
  const { mark, ended, names, events } = found as unknown as { [K in keyof KeptView]: [] };
  return { mark: new Map(mark), ended, names: new Map(names), events: new Map(events) };
}

/** One that cannot be written costs the next process its time, and nothing else. */
export async function writeKept(place: ViewPlace, { mark, ended, names, events }: KeptView): Promise<void> {
  const text = JSON.stringify({
    key: keyOf(place),
    mark: [...mark],
    ended,
    names: [...names],
    events: [...events],
  });
  await writeAtomic(place.path, text).catch(() => undefined);
}
