import { join } from 'node:path';
import * as z from 'zod';
import { withLock } from '../../base/files/file-lock.ts';
import { appendLog, readLog, type LogPlace } from '../../base/files/file-log.ts';
import { stateNames } from '../../base/files/file-state.ts';
import { projectKey } from '../../base/files/paths.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { type Happened, headsOf, inOrder } from '../../lines/line.ts';
import type { Entities, Noun, View } from '../../lines/view.ts';
import {
  DECIDED_BY,
  DECIDED_KINDS,
  type DecidedKind,
  type Decision,
  type Decisions,
} from '../../model/memory.ts';

/**
 * The decisions of people, kept where no project and no repository can write: one file of lines for each project in the
 * user's state. The last line about something holds. A line that cannot be read decides nothing, so a person is asked again.
 */

const FOLDER = 'decisions';
const ENDING = '.jsonl';
const LOCK_WAIT_MS = 15_000;

const dataSchema = z.object({
  digest: z.string(),
  yes: z.boolean(),
  by: z.string(),
  via: z.enum(DECIDED_BY),
  parts: z.record(z.string(), z.string()).optional(),
});

const lineSchema = dataSchema.extend({
  root: z.string(),
  kind: z.enum(DECIDED_KINDS),
  id: z.string(),
  at: z.string(),
});

type Line = z.output<typeof lineSchema>;

/** All decisions on this machine. */
export type DecisionBook = ReturnType<typeof openDecisions>;

export function openDecisions(state: string) {
  const folder = join(state, FOLDER);
  const kept = new Map<string, DecisionFile>();
  return {
    /** Those about a project, by its real path. */
    of(root: string): Decisions {
      const file = kept.get(root) ?? new DecisionFile(join(folder, projectKey(root) + ENDING), root);
      kept.set(root, file);
      return file;
    },
    /** The projects that something was decided about, by their paths. */
    async projects(): Promise<string[]> {
      const names = (await stateNames(folder)).filter((name) => name.endsWith(ENDING));
      const roots = await Promise.all(names.map((name) => rootIn(join(folder, name))));
      return [...new Set(roots.flatMap((root) => root ?? []))].sort();
    },
  };
}

async function rootIn(path: string): Promise<string | undefined> {
  let root: string | undefined;
  await readLog(
    path,
    undefined,
    () => undefined,
    (line) => (root ??= lineOf(line)?.root),
  ).catch(() => undefined);
  return root;
}

class DecisionFile implements Decisions {
  readonly #path: string;
  readonly #root: string;
  #place: LogPlace | undefined;
  #known = new Map<string, Line>();
  /** The same for each kind, until something is read. */
  #byKind = new Map<DecidedKind, ReadonlyMap<string, Decision>>();
  #reading: Promise<unknown> = Promise.resolve();

  constructor(path: string, root: string) {
    this.#path = path;
    this.#root = root;
  }

  async last(kind: DecidedKind, id: string): Promise<Decision | undefined> {
    return (await this.#read()).get(keyOf(kind, id));
  }

  async all(kind: DecidedKind): Promise<ReadonlyMap<string, Decision>> {
    const known = await this.#read();
    const before = this.#byKind.get(kind);
    if (before !== undefined) return before;
    const lines = [...known.values()].filter((line) => line.kind === kind);
    const found = new Map(lines.map((line) => [line.id, line]));
    this.#byKind.set(kind, found);
    return found;
  }

  async decide(decision: Omit<Decision, 'at'>): Promise<Decision> {
    const line: Line = { root: this.#root, ...decision, at: new Date().toISOString() };
    await appendLog(this.#path, [JSON.stringify(line)]);
    return line;
  }

  alone<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return withLock(`${this.#path}.lock`, { waitMs: LOCK_WAIT_MS, signal }, work);
  }

  /** Reads what has been appended since the last time, one reader after the other. */
  #read(): Promise<ReadonlyMap<string, Line>> {
    const reading = this.#reading.then(async () => {
      const read = await readLog(
        this.#path,
        this.#place,
        () => this.#forget(),
        (text) => {
          this.#byKind.clear();
          const line = lineOf(text);
          // Another project can have the same key only if someone has copied its file here.
          if (line?.root === this.#root) this.#known.set(keyOf(line.kind, line.id), line);
        },
      );
      this.#place = read?.place;
      if (read === undefined) this.#forget();
      return this.#known;
    });
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  #forget(): void {
    this.#known = new Map();
    this.#byKind.clear();
  }
}

const keyOf = (kind: DecidedKind, id: string): string => `${kind}\0${id}`;

function lineOf(text: string): Line | undefined {
  return lineSchema.safeParse(jsonObject(text)).data;
}

/**
 * The decisions of people that a team shares, as lines in its database. Whose programs may run, and which sources are
 * trusted, is decided on each machine: no row may ever allow a program to run.
 */
const SHARED: ReadonlySet<DecidedKind> = new Set(['task', 'delivery']);

const DECIDED = 'decided';

interface Held {
  key: string;
  decision: Decision;
}

const DECISIONS: Noun<Held> = {
  noun: 'decision',
  fold(key, events: readonly Happened[]) {
    const last = inOrder(events).findLast(({ do: verb }) => verb === DECIDED);
    const read = last === undefined ? undefined : dataSchema.safeParse(last.data).data;
    const kind = [...SHARED].find((each) => key.startsWith(`${each}/`));
    if (last === undefined || read === undefined || kind === undefined) return undefined;
    return { key, decision: { ...read, kind, id: key.slice(kind.length + 1), at: last.at } };
  },
  isOver: () => false,
};

/** The decisions about a project: those of a team from its lines, all others from this machine. */
export function sharedDecisions(own: Decisions, opened: () => Promise<View>): Decisions {
  let known: { rev: number; byKind: Map<DecidedKind, ReadonlyMap<string, Decision>> } | undefined;

  async function looked(): Promise<{ view: View; lines: Entities<Held> }> {
    const view = await opened();
    await view.look();
    return { view, lines: view.of(DECISIONS) };
  }

  return {
    async last(kind, id) {
      if (!SHARED.has(kind)) return own.last(kind, id);
      return (await looked()).lines.get(`${kind}/${id}`)?.decision;
    },
    async all(kind) {
      if (!SHARED.has(kind)) return own.all(kind);
      const { lines } = await looked();
      if (known?.rev !== lines.rev) known = { rev: lines.rev, byKind: new Map() };
      const before = known.byKind.get(kind);
      if (before !== undefined) return before;
      const some = lines.all().flatMap(({ decision }) => (decision.kind === kind ? [decision] : []));
      const found = new Map(some.map((decision) => [decision.id, decision]));
      known.byKind.set(kind, found);
      return found;
    },
    async decide(decision) {
      if (!SHARED.has(decision.kind)) return own.decide(decision);
      const { view, lines } = await looked();
      const { kind, id, ...data } = decision;
      const key = `${kind}/${id}`;
      const after = headsOf(lines.eventsOf(key));
      const done = await view.log.append([{ of: `${DECISIONS.noun}/${key}`, after, do: DECIDED, data }]);
      await view.look();
      return { ...decision, at: 'line' in done ? done.line.at : new Date(view.log.now()).toISOString() };
    },
    alone: (signal, work) => own.alone(signal, work),
  };
}
