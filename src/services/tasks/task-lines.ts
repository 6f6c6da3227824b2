import { inTurn } from '../../base/async.ts';
import { BmadError } from '../../base/errors.ts';
import { push } from '../../base/grouped.ts';
import { happenedIn, headsOf, onceEach, type Happened } from '../../lines/line.ts';
import { type Expectation, type Log, type Mark, troubleText } from '../../lines/log.ts';
import { FINAL_STATES, type Task } from '../../model/task.ts';
import { readFold, writeFold, type Folded, type FoldPlace, type Settled } from './fold-cache.ts';
import { entityOf, idIn, isName, taskOf, type TaskVerb } from './fold.ts';

/** Something that is said about a task, or about a name. */
export interface Said {
  of: string;
  do: TaskVerb | 'take';
  data: Readonly<Record<string, unknown>>;
}

interface Placed {
  file: string;
  event: Happened;
}

/** What stands for the files of a version before, whose tasks are known and in no line yet. */
const OLD = '';
/** So many events take longer to read than what they have made of tasks. */
const KEPT_FROM = 2_000;
/** How often others may be faster with the same. */
const ROUNDS = 200;

/**
 * The tasks of a project as its lines tell them, kept from one call to the next: what was added is read, and only tasks that
 * it is about are folded anew.
 */
export class TaskLines {
  readonly #turn = inTurn();
  readonly #changing = inTurn();
  #log: Log | undefined;
  #mark = new Map<string, string>();
  #events = new Map<string, Placed[]>();
  #names = new Map<string, Settled>();
  /** Tasks that are known without their lines. */
  #ended = new Map<string, Settled>();
  #tasks = new Map<string, Task>();
  #old: readonly Task[] = [];
  #sorted: readonly Task[] | undefined;
  /** When something was last said about an entity, counted in readings. */
  #touched = new Map<string, number>();
  #rev = 0;

  /** Takes in what was written since the last time. Another log is another project. */
  look(log: Log, place?: FoldPlace): Promise<void> {
    return this.#turn(async () => {
      if (log !== this.#log) {
        this.#forget(log);
        if (place !== undefined) this.#remember(await readFold(place));
      }
      if (this.#mark.size > 0 && !(await log.changed(this.#mark))) return;
      let count = await this.#read(log);
      if (count === undefined) {
        // What is known without its lines has changed, or a file is gone: once more, from the beginning.
        this.#forget(log);
        count = await this.#read(log);
        this.#addOld();
      }
      if (place !== undefined && (count ?? 0) >= KEPT_FROM) await writeFold(place, this.#folded());
    });
  }

  /** How many events there were; nothing where they cannot be understood with what is known. */
  async #read(log: Log): Promise<number | undefined> {
    let count = 0;
    for await (const { lines, gone, marks } of log.read(new Map(this.#mark))) {
      if (gone.length > 0) return undefined;
      const touched = new Set<string>();
      for (const { line, file } of lines)
        for (const event of happenedIn(line)) {
          if (this.#ended.has(event.of)) return undefined;
          this.#add(event, file, touched);
        }
      for (const [name, value] of marks)
        if (value === undefined) this.#mark.delete(name);
        else this.#mark.set(name, value);
      this.#fold(touched);
      count += lines.reduce((sum, { line }) => sum + line.events.length, 0);
    }
    return count;
  }

  #forget(log: Log): void {
    this.#log = log;
    this.#mark = new Map();
    this.#events = new Map();
    this.#names = new Map();
    this.#ended = new Map();
    this.#tasks = new Map();
    this.#sorted = undefined;
    this.#rev += 1;
  }

  #remember(folded: Folded | undefined): void {
    if (folded === undefined) return;
    this.#mark = new Map(folded.mark);
    this.#names = new Map(folded.names);
    for (const { task, ...settled } of folded.ended) {
      this.#ended.set(entityOf(task.task_id), settled);
      this.#tasks.set(task.task_id, task);
    }
    for (const [of, events] of folded.events) this.#events.set(of, [...events]);
    this.#fold(new Set(folded.events.keys()));
  }

  #folded(): Folded {
    const ended: (Settled & { task: Task })[] = [];
    const events = new Map<string, readonly Placed[]>();
    for (const [of, placed] of this.#events) {
      const task = this.#tasks.get(idIn(of) ?? '');
      const isOver = task !== undefined && FINAL_STATES.includes(task.status);
      const lines = placed.filter(({ file }) => file !== OLD);
      if (!isOver || lines.some(({ event }) => event.newer)) events.set(of, lines);
      else ended.push({ task, heads: this.#heads(of), files: [...new Set(lines.map(({ file }) => file))] });
    }
    for (const [of, settled] of this.#ended) {
      const task = this.#tasks.get(idIn(of) ?? '');
      if (task !== undefined) ended.push({ task, ...settled });
    }
    return { mark: this.#mark, ended, names: this.#names, events };
  }

  #add(event: Happened, file: string, touched: Set<string>): void {
    const { of, id, after } = event;
    if (isName(of)) {
      const { heads, files } = this.#names.get(of) ?? { heads: [], files: [] };
      const left = heads.filter((head) => head !== id && !after.includes(head));
      this.#names.set(of, { heads: [...left, id], files: files.includes(file) ? files : [...files, file] });
    } else if (idIn(of) === undefined) return;
    else push(this.#events, of, { file, event });
    touched.add(of);
  }

  #heads(of: string): readonly string[] {
    const settled = this.#names.get(of) ?? this.#ended.get(of);
    if (settled !== undefined) return settled.heads;
    const lines = (this.#events.get(of) ?? []).filter(({ file }) => file !== OLD);
    return headsOf(onceEach(lines.map(({ event }) => event)));
  }

  #fold(touched: ReadonlySet<string>): void {
    if (touched.size === 0) return;
    this.#rev += 1;
    for (const of of touched) {
      this.#touched.set(of, this.#rev);
      const id = idIn(of);
      if (id === undefined) continue;
      this.#sorted = undefined;
      const task = taskOf(id, this.#eventsOf(of));
      if (task === undefined) this.#tasks.delete(id);
      else this.#tasks.set(id, task);
    }
  }

  #eventsOf(of: string): Happened[] {
    return onceEach((this.#events.get(of) ?? []).map(({ event }) => event));
  }

  /** Tasks that are in no line: known like others, until they are written as lines. */
  takeOld(tasks: readonly Task[]): Promise<void> {
    this.#old = tasks;
    return this.#turn(async () => this.#addOld());
  }

  #addOld(): void {
    const touched = new Set<string>();
    for (const [of, events] of this.#events) {
      const left = events.filter(({ file }) => file !== OLD);
      if (left.length === events.length) continue;
      touched.add(of);
      this.#events.set(of, left);
    }
    for (const task of this.#old) {
      const of = entityOf(task.task_id);
      if (this.isInLines(task.task_id)) continue;
      const [at, by] = [task.updated_at, { kind: 'local', name: task.created_by } as const];
      const event = { of, id: `old/${task.task_id}`, at, by, machine: '', newer: false };
      this.#add({ ...event, after: [], do: 'moved', data: task }, OLD, touched);
    }
    this.#fold(touched);
  }

  isInLines(id: string): boolean {
    const of = entityOf(id);
    return this.#ended.has(of) || this.#events.get(of)?.some(({ file }) => file !== OLD) === true;
  }

  /** Differs whenever something was said. */
  get rev(): number {
    return this.#rev;
  }

  get(id: string): Task | undefined {
    return this.#tasks.get(id);
  }

  /** All tasks, the oldest first: a clock may have gone back, so the moment that the task itself names decides. */
  all(): readonly Task[] {
    return (this.#sorted ??= [...this.#tasks.values()].sort((a, b) => {
      const [one, other] =
        a.created_at === b.created_at ? [a.task_id, b.task_id] : [a.created_at, b.created_at];
      return one < other ? -1 : 1;
    }));
  }

  isNewer(id: string): boolean {
    return this.#eventsOf(entityOf(id)).some(({ newer }) => newer);
  }

  problems(): string[] {
    return this.#log?.troubles().map(troubleText) ?? [];
  }

  /**
   * Says what `plan` makes of the tasks as they are, if nobody else has said something about the same meanwhile; otherwise
   * plans again. One that says nothing has its answer already.
   */
  change<T>(
    log: Log,
    place: FoldPlace | undefined,
    signal: AbortSignal,
    plan: () => Promise<{ said: readonly Said[]; answer: T }>,
  ): Promise<T> {
    return this.#changing(async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        signal.throwIfAborted();
        await this.look(log, place);
        const before = this.#rev;
        const { said, answer } = await plan();
        if (said.length === 0) return answer;
        const isStale = said.some(({ of }) => (this.#touched.get(of) ?? 0) > before);
        if (isStale) continue;
        const mark: Mark = new Map(this.#mark);
        const heads = new Map(said.map(({ of }) => [of, this.#heads(of)]));
        const expect: Expectation = { since: mark, heads };
        const events = said.map(({ of, ...what }) => ({ of, after: heads.get(of) ?? [], ...what }));
        const done = await log.append(events, expect);
        await this.look(log, place);
        if ('line' in done) return answer;
      }
      throw new BmadError('unavailable', 'Other processes keep changing the tasks of this project.', {
        hint: 'Try again in a moment.',
      });
    });
  }
}
