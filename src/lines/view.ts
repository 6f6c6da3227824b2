import { inTurn, onceForAll } from '../base/async.ts';
import { BmadError } from '../base/errors.ts';
import { readState, writeAtomic } from '../base/files/file-state.ts';
import { jsonObject } from '../base/parse/json.ts';
import { VERSION } from '../base/product.ts';
import { t } from '../base/text/message.ts';
import { push } from '../base/values.ts';
import {
  type Expectation,
  type Happened,
  happenedIn,
  headsOf,
  inOrder,
  isUnheard,
  type Log,
  type NewEvent,
  onceEach,
  troubleText,
} from './line.ts';

export interface Noun<T extends object> {
  /** What their names begin with: `task` for `task/…`. */
  noun: string;
  /** All lines about one in, what it is out; nothing else may matter to it. Nothing for what is none. */
  fold(id: string, events: readonly Happened[]): T | undefined;
  /** Whether it has ended: such ones are kept on disk without their lines. */
  isOver(state: T): boolean;
}

export interface Entities<T extends object> {
  /** Another number when something was said about one of them. */
  readonly rev: number;
  get(id: string): T | undefined;
  /** All that there are, in no order; the same list for as long as nothing was said. */
  all(): readonly T[];
  open(): readonly T[];
  /** What the lines say about one, in the order of all readers; nothing where it is known without them. */
  eventsOf(id: string): readonly Happened[];
  /** The same of one that is known without them as well: then all lines are read for it. */
  history(id: string): Promise<readonly Happened[]>;
  isInLines(id: string): boolean;
  /** Whether a newer program has said something about it, whose rules are not known here. */
  isNewer(id: string): boolean;
  /** What is known and in no line yet: it counts like others until there is a line about the same. */
  takeOld(events: readonly Happened[]): Promise<void>;
}

export type Saying = Pick<NewEvent, 'of' | 'do' | 'data'>;

interface Placed {
  file: string;
  event: Happened;
}

const OLD = '';
/** Memories have an index of their own. */
const ELSEWHERE = 'memory';
/** A name that only one may have. Nothing is made of it: who takes it must know of all who had it. */
const NAME = 'name/';
/** So many events take longer to read than what was made of them. */
const KEPT_FROM = 2_000;
const ROUNDS = 200;

const nounOf = (of: string): string => of.slice(0, Math.max(0, of.indexOf('/')));

/** What is known after a reading; another reading from the beginning makes another one. */
class Known {
  mark = new Map<string, string>();
  events = new Map<string, Placed[]>();
  /** The lines about names that nothing follows, and those about entities that are known without their lines. */
  names = new Map<string, readonly string[]>();
  ended = new Map<string, readonly string[]>();
  states = new Map<string, Map<string, object>>();

  of(noun: string): Map<string, object> {
    const known = this.states.get(noun) ?? new Map<string, object>();
    this.states.set(noun, known);
    return known;
  }

  eventsOf(of: string): Happened[] {
    return onceEach((this.events.get(of) ?? []).map(({ event }) => event));
  }

  linesOf(of: string): Placed[] {
    return (this.events.get(of) ?? []).filter(({ file }) => file !== OLD);
  }

  isInLines(of: string): boolean {
    return this.ended.has(of) || this.events.get(of)?.some(({ file }) => file !== OLD) === true;
  }

  heads(of: string): readonly string[] {
    const settled = this.names.get(of) ?? this.ended.get(of);
    return settled ?? headsOf(onceEach(this.linesOf(of).map(({ event }) => event)));
  }

  add(event: Happened, file: string): void {
    const { of, id, after } = event;
    if (of.startsWith(NAME)) {
      const left = (this.names.get(of) ?? []).filter((head) => head !== id && !after.includes(head));
      this.names.set(of, [...left, id]);
    } else push(this.events, of, { file, event });
  }
}

interface Registered {
  noun: Noun<object>;
  rev: number;
  old: readonly Happened[];
  all: readonly object[] | undefined;
  open: readonly object[] | undefined;
}

/**
 * The entities of a project as its lines tell them, of all nouns but memories, kept from one call to the next: what was
 * added is read once for all of them, and only entities that it is about are folded again.
 */
export class View {
  readonly log: Log;
  readonly #place: ViewPlace | undefined;
  readonly #turn = inTurn();
  readonly #changing = inTurn();
  readonly #nouns = new Map<string, Registered>();
  #known = new Known();
  #isBegun = false;
  /** When something was last said about an entity, counted in readings. */
  #touched = new Map<string, number>();
  #rev = 0;
  /** How many events were read or folded that are not in the cache. */
  #unkept = 0;
  /** Why what is known may be out of date. */
  #unheard: BmadError | undefined;

  /** What has ended is known by its noun: of nouns that come later, all lines are kept. */
  constructor(log: Log, place?: ViewPlace, nouns: readonly Noun<object>[] = []) {
    this.log = log;
    this.#place = place;
    for (const noun of nouns) this.of(noun);
  }

  /** The entities of a noun. One that comes late is told what was read before. */
  of<T extends object>(noun: Noun<T>): Entities<T> {
    let own = this.#nouns.get(noun.noun);
    if (own === undefined) {
      own = { noun: noun as unknown as Noun<object>, rev: 0, old: [], all: undefined, open: undefined };
      this.#nouns.set(noun.noun, own);
      this.#fold(this.#known, this.#entitiesOf(this.#known, noun.noun));
    }
    const registered = own;
    const entity = (id: string): string => `${noun.noun}/${id}`;
    const states = (): ReadonlyMap<string, object> => this.#known.of(noun.noun);
    return {
      get rev() {
        return registered.rev;
      },
      get: (id) => states().get(id) as T | undefined,
      all: () => (registered.all ??= [...states().values()]) as T[],
      open: () =>
        (registered.open ??= [...states().values()].filter((each) => !noun.isOver(each as T))) as T[],
      eventsOf: (id) => inOrder(this.#known.eventsOf(entity(id))),
      history: (id) => this.#history(entity(id)),
      isInLines: (id) => this.#known.isInLines(entity(id)),
      isNewer: (id) => this.#known.eventsOf(entity(id)).some(({ newer }) => newer),
      takeOld: (events) => {
        registered.old = events;
        return this.#turn(() => Promise.resolve(this.#addOld(this.#known, registered)));
      },
    };
  }

  readonly look = onceForAll(async (): Promise<void> => {
    const place = this.#place;
    if (!this.#isBegun && place !== undefined) this.#remember(await readKept(place));
    this.#isBegun = true;
    const { mark } = this.#known;
    try {
      if (mark.size === 0 || (await this.log.changed(mark))) await this.#take();
      this.#unheard = undefined;
    } catch (error) {
      // Readers get what was known last, and are told; who writes is refused.
      if (!isUnheard(error) || mark.size === 0) throw error;
      this.#unheard = error;
    }
    if (place === undefined || this.#unkept < KEPT_FROM) return;
    this.#unkept = 0;
    const kept = this.#kept();
    await writeKept(place, kept);
    // Their lines are on disk, where they are looked up if anything is said about them again.
    for (const { of, heads } of kept.ended) {
      this.#known.ended.set(of, heads);
      this.#known.events.delete(of);
    }
  }, this.#turn);

  async #history(of: string): Promise<Happened[]> {
    if (!this.#known.ended.has(of)) return inOrder(this.#known.eventsOf(of));
    const found: Happened[] = [];
    for await (const { lines } of this.log.read(new Map(), ELSEWHERE))
      for (const { line } of lines) found.push(...happenedIn(line).filter((event) => event.of === of));
    return inOrder(onceEach(found));
  }

  async #take(): Promise<void> {
    if (await this.#read(this.#known)) return;
    // What is known without its lines has changed, or a file is gone: once more, and nothing is shown before its end.
    const again = new Known();
    await this.#read(again);
    for (const registered of this.#nouns.values()) this.#addOld(again, registered);
    this.#known = again;
    this.#rev += 1;
    for (const registered of this.#nouns.values()) this.#moved(registered);
  }

  /** Whether all that is new could be understood with what is known. */
  async #read(known: Known): Promise<boolean> {
    for await (const { lines, gone, marks, without = 0 } of this.log.read(new Map(known.mark), ELSEWHERE)) {
      if (gone.length > 0) return false;
      const touched = new Set<string>();
      for (const { line, file } of lines)
        for (const event of happenedIn(line)) {
          if (known.ended.has(event.of)) return false;
          if (nounOf(event.of) === ELSEWHERE) continue;
          known.add(event, file);
          touched.add(event.of);
        }
      for (const [name, value] of marks)
        if (value === undefined) known.mark.delete(name);
        else known.mark.set(name, value);
      this.#unkept += lines.reduce((sum, { line }) => sum + line.events.length, without);
      this.#fold(known, touched);
    }
    return true;
  }

  #fold(known: Known, touched: ReadonlySet<string>): void {
    if (touched.size === 0) return;
    this.#rev += 1;
    for (const of of touched) {
      this.#touched.set(of, this.#rev);
      const registered = this.#nouns.get(nounOf(of));
      if (registered === undefined) continue;
      this.#moved(registered);
      const { noun } = registered.noun;
      const id = of.slice(noun.length + 1);
      const events = known.eventsOf(of);
      const state = registered.noun.fold(id, events);
      if (state === undefined) known.of(noun).delete(id);
      else known.of(noun).set(id, state);
      if (state !== undefined && registered.noun.isOver(state)) this.#unkept += events.length;
    }
  }

  #learn(events: readonly Happened[], file: string): void {
    for (const event of events) this.#known.add(event, file);
    this.#fold(this.#known, new Set(events.map(({ of }) => of)));
  }

  #moved(registered: Registered): void {
    registered.rev = this.#rev;
    registered.all = undefined;
    registered.open = undefined;
  }

  #entitiesOf(known: Known, noun: string): Set<string> {
    return new Set([...known.events.keys()].filter((of) => nounOf(of) === noun));
  }

  #addOld(known: Known, { noun: { noun }, old }: Registered): void {
    const touched = new Set<string>();
    for (const of of this.#entitiesOf(known, noun)) {
      const left = known.linesOf(of);
      if (left.length === known.events.get(of)?.length) continue;
      touched.add(of);
      known.events.set(of, left);
    }
    for (const event of old) {
      if (known.isInLines(event.of)) continue;
      known.add(event, OLD);
      touched.add(event.of);
    }
    this.#fold(known, touched);
  }

  #remember(kept: KeptView | undefined): void {
    if (kept === undefined) return;
    const known = this.#known;
    known.mark = new Map(kept.mark);
    known.names = new Map(kept.names);
    for (const { of, heads, state } of kept.ended) {
      const noun = nounOf(of);
      known.ended.set(of, heads);
      known.of(noun).set(of.slice(noun.length + 1), state);
    }
    for (const [of, events] of kept.events) known.events.set(of, [...events]);
    this.#fold(known, new Set(kept.events.keys()));
    for (const registered of this.#nouns.values()) this.#moved(registered);
  }

  #kept(): KeptView {
    const { mark, names, events, ended } = this.#known;
    const stateOf = (of: string): object | undefined => {
      const noun = nounOf(of);
      return this.#known.of(noun).get(of.slice(noun.length + 1));
    };
    const kept: KeptView = { mark, names, ended: [], events: new Map() };
    for (const of of events.keys()) {
      const [lines, state] = [this.#known.linesOf(of), stateOf(of)];
      const isOver = state !== undefined && this.#nouns.get(nounOf(of))?.noun.isOver(state) === true;
      if (lines.length === 0) continue;
      if (!isOver || lines.some(({ event }) => event.newer)) kept.events.set(of, lines);
      else kept.ended.push({ of, heads: this.#known.heads(of), state });
    }
    for (const [of, heads] of ended) kept.ended.push({ of, heads, state: stateOf(of) ?? {} });
    return kept;
  }

  problems(): string[] {
    return this.log.troubles().map(troubleText);
  }

  /**
   * Says what `plan` makes of things as they are, if nobody else has said something about the same meanwhile; otherwise
   * plans again. One that says nothing has its answer already.
   */
  change<T>(
    signal: AbortSignal | undefined,
    plan: () => Promise<{ said: readonly Saying[]; answer: T }>,
  ): Promise<T> {
    return this.#changing(async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        signal?.throwIfAborted();
        await this.look();
        if (this.#unheard !== undefined) throw this.#unheard;
        const before = this.#rev;
        const { said, answer } = await plan();
        if (said.length === 0) return answer;
        const isStale = said.some(({ of }) => (this.#touched.get(of) ?? 0) > before);
        if (isStale) continue;
        const heads = new Map(said.map(({ of }) => [of, this.#known.heads(of)]));
        const expect: Expectation = { since: new Map(this.#known.mark), heads };
        const events = said.map(({ of, ...what }) => ({ of, after: heads.get(of) ?? [], ...what }));
        const done = await this.log.append(events, expect);
        await this.look();
        if (!('line' in done)) continue;
        // What was just written is known, though nothing can be read at the moment.
        if (this.#unheard !== undefined) this.#learn(happenedIn(done.line), done.file);
        return answer;
      }
      throw new BmadError('unavailable', t`Other processes keep changing the state of this project.`, {
        hint: t`Try again in a moment.`,
      });
    });
  }
}

/** What a reader of lines knows, so that the next process need not read ten thousand entities that have ended. */
interface KeptView {
  mark: ReadonlyMap<string, string>;
  /** Entities that are known without their lines: what these made of them, and which of them nothing follows. */
  ended: { of: string; heads: readonly string[]; state: object }[];
  names: ReadonlyMap<string, readonly string[]>;
  events: Map<string, readonly { file: string; event: Happened }[]>;
}

interface ViewPlace {
  path: string;
  of: string;
}

/** Raised with each change of what lines make of an entity. */
const FOLD = 2;
/** More is no text that Node can make. */
const KEPT_BYTES = 500_000_000;

const keyOf = ({ of }: ViewPlace): string => `${VERSION} ${FOLD} ${of}`;

/** Nothing where it is missing, of another version or of other folders: lines have everything. */
async function readKept(place: ViewPlace): Promise<KeptView | undefined> {
  const text = await readState(place.path, { maxBytes: KEPT_BYTES }).catch(() => undefined);
  const found = jsonObject(text ?? '');
  if (found === undefined || found['key'] !== keyOf(place)) return undefined;
  const { mark, ended, names, events } = found as unknown as { [K in keyof KeptView]: [] };
  return { mark: new Map(mark), ended, names: new Map(names), events: new Map(events) };
}

/** One that cannot be written, or is too large for a text, costs the next process its time, and nothing else. */
async function writeKept(place: ViewPlace, { mark, ended, names, events }: KeptView): Promise<void> {
  const kept = { key: keyOf(place), mark: [...mark], ended, names: [...names], events: [...events] };
  try {
    await writeAtomic(place.path, JSON.stringify(kept));
  } catch {}
}
