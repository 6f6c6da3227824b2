import { computed, signal } from '@preact/signals';
import { keep, kept } from './kept.ts';

export type Language = 'en' | 'fr';

/** The French of every text here, from the one catalogue (src/language/fr); the build puts it in. */
declare const FRENCH: Readonly<Partial<Record<string, string>>>;

/** What a person has chosen; without it what the server or the host offers, then the language of the browser. */
const chosen = signal<string | undefined>(kept('language'));
const offered = signal<string | undefined>(undefined);

export const language = computed<Language>(() => {
  const wanted = chosen.value ?? offered.value ?? navigator.language;
  return wanted.toLowerCase().startsWith('fr') ? 'fr' : 'en';
});

export function offerLanguage(name: string): void {
  offered.value = name;
}

/** What calls ask the server to speak; without a wish, browsers name the languages of their person. */
export const wishedLanguage = (): Readonly<Record<string, string>> => {
  const wished = chosen.value ?? offered.value;
  return wished === undefined ? {} : { 'accept-language': wished };
};

export function chooseLanguage(name: Language): void {
  chosen.value = name;
  keep('language', name);
}

/** The same with its region, where the browser names one: days and hours are written as people there do. */
const locale = (): string =>
  navigator.language.toLowerCase().startsWith(language.value) ? navigator.language : language.value;

const found = (text: string): string | undefined => (language.value === 'fr' ? FRENCH[text] : undefined);

/** A message as everywhere else: looked up as it is written, and what comes in is never looked at. */
export function t(parts: TemplateStringsArray, ...given: readonly (string | number)[]): string {
  const key = parts.reduce((text, part, place) => `${text}{${place - 1}}${part}`);
  return (found(key) ?? key).replace(/\{(\d+)\}/g, (_place, number) => String(given[Number(number)]));
}

/** What something is, and it: languages put the colon differently. */
export const labelled = (label: string, text: string): string => t`${label}: ${text}`;

/** `3 stories`: one and many are messages of their own. */
export function plural(count: number, one: string, many = `${one}s`): string {
  // What is one and what is many differs: in French nothing is one, too.
  const isOne = new Intl.PluralRules(language.value).select(count) === 'one';
  const text = `{n} ${isOne ? one : many}`;
  return (found(text) ?? text).replace('{n}', number(count));
}

export const number = (value: number): string => new Intl.NumberFormat(locale()).format(value);

/** As people write it here; what is no time as it is written. */
const written =
  (how: Intl.DateTimeFormatOptions) =>
  (iso = ''): string =>
    Number.isNaN(Date.parse(iso)) ? iso : new Intl.DateTimeFormat(locale(), how).format(Date.parse(iso));

export const moment = written({ dateStyle: 'medium', timeStyle: 'short' });
export const day = written({ dateStyle: 'short' });
/** A day without an hour, also where a format has put midnight in its place. */
const DATE_ONLY = /^\d{4}-\d{2}-\d{2}(?:T00:00:00(?:\.000)?Z)?$/;
const timeOfDay = written({ hour: 'numeric', minute: '2-digit' });
/** The time of day, as what happened today is told, where it is known. */
export const clock = (iso = ''): string => (DATE_ONLY.test(iso) ? '' : timeOfDay(iso));

/** A day in words: today, yesterday, or its date. */
export function dayName(iso: string, now = new Date()): string {
  const time = Date.parse(iso);
  if (Number.isNaN(time)) return iso;
  if (time === 0) return t`No date`;
  const midnight = (at: number): number => new Date(at).setHours(0, 0, 0, 0);
  const days = Math.round((midnight(now.getTime()) - midnight(time)) / 86_400_000);
  if (days === 0 || days === 1) {
    const words = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' }).format(-days, 'day');
    return words.charAt(0).toUpperCase() + words.slice(1);
  }
  const isThisYear = new Date(time).getFullYear() === now.getFullYear();
  return written({ day: 'numeric', month: 'long', ...(isThisYear ? {} : { year: 'numeric' }) })(iso);
}

/** Moves on while the page is open, so that what is told in minutes does not stand still. */
export const passing = signal(Date.now());

/** How long ago, in the largest unit that says it. */
function elapsed(iso: string, now: number): [count: number, unit: 'minute' | 'hour' | 'day'] | undefined {
  const time = Date.parse(iso);
  if (Number.isNaN(time)) return undefined;
  const minutes = Math.max(0, Math.round((now - time) / 60_000));
  if (minutes < 60) return [minutes, 'minute'];
  const hours = Math.round(minutes / 60);
  return hours < 24 ? [hours, 'hour'] : [Math.round(hours / 24), 'day'];
}

/** `2 minutes ago`, `yesterday`: in the words of the language. Of a bare date no hour is known. */
export function age(iso = ''): string {
  const now = passing.value;
  if (DATE_ONLY.test(iso)) return dayName(`${iso.slice(0, 10)}T12:00:00`, new Date(now));
  const [count, unit] = elapsed(iso, now) ?? [];
  if (count === undefined || unit === undefined) return '';
  if (count === 0) return t`just now`;
  return new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' }).format(-count, unit);
}

function shortDay(iso: string, now: number): string {
  const isToday = new Date(iso).toDateString() === new Date(now).toDateString();
  if (isToday) return dayName(iso, new Date(now));
  return written({ day: 'numeric', month: 'short' })(iso);
}

export const amount = (count: number, unit: 'minute' | 'hour' | 'day'): string =>
  new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay: 'short' }).format(count);

/** `2 min`, `3 h`: the same where there is room for no more. */
export function span(iso = '', now = passing.value): string {
  if (DATE_ONLY.test(iso)) return shortDay(`${iso.slice(0, 10)}T12:00:00`, now);
  const [count, unit] = elapsed(iso, now) ?? [];
  if (count === undefined || unit === undefined) return '';
  return count === 0 ? t`just now` : amount(count, unit);
}
