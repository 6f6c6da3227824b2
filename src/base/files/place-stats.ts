import { lstatSync, statSync, type Stats } from 'node:fs';

/** Long enough for every clock that a file system takes its times from; some keep whole seconds only, or even ones. */
const TICK_MS = 50;
const COARSE_TICK_MS = 2_100;

/** Whether a change now would get another time. Nobody sets this one: it is that of the last change, by the clock of the file system. */
export function isSettled(ctimeMs: number): boolean {
  const tick = ctimeMs % 1_000 === 0 ? COARSE_TICK_MS : TICK_MS;
  return ctimeMs < Date.now() - tick;
}

/** What is there, links followed. In this thread: to wait for another would take several times as long as looking. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The same for a link itself. */
export function lstatOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

export type { Stats };

/** What of a place tells of a change. Numbers, because there may be tens of thousands of them to compare. */
export type Stamp = Readonly<Pick<Stats, 'ino' | 'mtimeMs' | 'ctimeMs' | 'size'>>;

/** How a place is now. `before` is given back if it still is so, that nothing is made for what has not changed. */
export function stampAt(path: string, before?: Stamp): Stamp | undefined {
  const found = statOf(path);
  return found && stampOf(found, before);
}

/** The same of what was looked at. */
export function stampOf({ ino, mtimeMs, ctimeMs, size }: Stats, before?: Stamp): Stamp {
  const same =
    before?.ino === ino && before.mtimeMs === mtimeMs && before.ctimeMs === ctimeMs && before.size === size;
  return same ? before : { ino, mtimeMs, ctimeMs, size };
}
