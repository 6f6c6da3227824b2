const two = (value: number): string => String(value).padStart(2, '0');

/** The day where the user is: 2026-11-15. */
export function localDay(date: Date): string {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** A moment as the files of the project have it: local, without a zone, with microseconds. */
export function localTime(date: Date): string {
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return `${localDay(date)}T${time}.${String(date.getMilliseconds()).padStart(3, '0')}000`;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The first or the last moment of what was given: a day is meant whole, and where the user is. */
export function momentOf(text: string, end: 'first' | 'last'): string {
  const given = text.trim();
  if (!DAY.test(given)) return given;
  const date = new Date(`${given}T${end === 'first' ? '00:00:00.000' : '23:59:59.999'}`);
  return Number.isNaN(date.getTime()) ? given : date.toISOString();
}

/** A local time from a file, in UTC as memories use it; undefined if it is not a date. */
export function utcOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const date = new Date(DAY.test(text) ? `${text}T00:00:00` : text);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
