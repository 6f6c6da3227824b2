import { join } from 'node:path';
import * as z from 'zod';
import { withLock } from '../../base/files/file-lock.ts';
import { appendLog, readLog, type LogPlace } from '../../base/files/file-log.ts';
import { stateNames } from '../../base/files/file-state.ts';
import { projectKey } from '../../base/files/paths.ts';
import { jsonObject } from '../../base/parse/json.ts';
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

const lineSchema = z.object({
  root: z.string(),
  kind: z.enum(DECIDED_KINDS),
  id: z.string(),
  digest: z.string(),
  yes: z.boolean(),
  by: z.string(),
  via: z.enum(DECIDED_BY),
  at: z.string(),
  parts: z.record(z.string(), z.string()).optional(),
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
