import { projectMarks } from '../../../operations/client/project-marks.ts';
import type { Context } from '../../../operations/context.ts';

/** How a project looked: a mark for each topic, always in the same order. */
export type Marks = readonly (readonly [topic: string, mark: string])[];

/** Projects that are not watched are looked at so often, while somebody listens. */
const POLL_MS = 5_000;
/** For a while after the last listener has left, another may come: a page that is loaded again. */
const KEPT_MS = 10_000;

export interface Followed {
  /** Settled when it is known how the project looks; throws if it cannot be followed. */
  ready(): Promise<void>;
  project(): string;
  marks(): Marks;
  /** Calls when something is different from before, and only then. */
  listen(tell: () => void): () => void;
}

/**
 * One project as all who listen to it see it: looked at once for all of them, when something has moved. The one that the
 * server runs for is watched; all others are looked at now and then.
 */
export function followProject(context: Context, named: string | undefined, forget: () => void): Followed {
  const listeners = new Set<() => void>();
  let current: { project: string; marks: Marks } = { project: '', marks: [] };
  let leave: (() => void)[] = [];
  let last: Promise<unknown> = Promise.resolve();
  let waits: Promise<boolean> | undefined;
  let leaving: NodeJS.Timeout | undefined;

  async function look(): Promise<boolean> {
    const { project, marks: now } = await projectMarks(context, named);
    const isDifferent = JSON.stringify(now) !== JSON.stringify(current.marks);
    const isFirst = current.marks.length === 0;
    current = { project, marks: now };
    if (isDifferent && !isFirst) for (const tell of listeners) tell();
    return isDifferent && !isFirst;
  }

  /** One at a time; whatever comes while one waits is part of it. */
  function lookSoon(): Promise<boolean> {
    if (waits !== undefined) return waits;
    const turn = last.then(() => {
      waits = undefined;
      return look().catch((error: unknown) => {
        context.log.info('events', { error: String(error) });
        return false;
      });
    });
    waits = turn;
    last = turn;
    return turn;
  }

  /** Whether the system tells when something moves there. */
  async function isWatched(): Promise<boolean> {
    if (context.config.watch === 'off') return false;
    return named === undefined || (await context.describeProject()).root === current.project;
  }

  async function begin(): Promise<void> {
    await look();
    if (await isWatched()) {
      leave = [
        context.onChange(({ current: isOwn }) => void (isOwn && lookSoon())),
        context.onMoved(() => lookSoon()),
      ];
    } else {
      const timer = setInterval(() => void lookSoon(), POLL_MS).unref();
      leave = [() => clearInterval(timer)];
    }
    if (listeners.size === 0) endLater();
  }

  const begun = begin();
  begun.catch(forget);

  function endLater(): void {
    clearTimeout(leaving);
    leaving = setTimeout(() => {
      if (listeners.size > 0) return;
      forget();
      for (const each of leave.splice(0)) each();
    }, KEPT_MS).unref();
  }

  return {
    ready: () => begun,
    project: () => current.project,
    marks: () => current.marks,
    listen(tell) {
      listeners.add(tell);
      return () => {
        listeners.delete(tell);
        if (listeners.size === 0) endLater();
      };
    },
  };
}
