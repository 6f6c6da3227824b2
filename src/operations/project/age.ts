import { localDay, utcOf } from '../../base/text/local-time.ts';

/** Work that nobody has touched for so long is no longer "the next step" where other work came after it. */
const LONG_DAYS = 30;
const DAY = 86_400_000;

export function isPast(moment: number, now = Date.now()): boolean {
  return now - moment > LONG_DAYS * DAY;
}

/** One day, because finished work is committed or logged shortly afterwards. */
export function isWellAfter(later: number, moment: number): boolean {
  return later - moment > DAY;
}

/** `2026-02-27`, `2026-02-27 10:00` and the like, where the user is; nothing where it is no date. */
export function momentOf(date: string | undefined): number | undefined {
  const utc = utcOf(date);
  return utc === undefined ? undefined : Date.parse(utc);
}

export function dayOf(moment: number): string {
  return localDay(new Date(moment));
}
