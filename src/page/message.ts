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

const found = (text: string): string | undefined => (language.value === 'fr' ? FRENCH[text] : undefined);

/** A message as everywhere else: looked up as it is written, and what comes in is never looked at. */
export function t(parts: TemplateStringsArray, ...given: readonly (string | number)[]): string {
  const key = parts.reduce((text, part, place) => `${text}{${place - 1}}${part}`);
  return (found(key) ?? key).replace(/\{(\d+)\}/g, (_place, number) => String(given[Number(number)]));
}

/** `3 stories`: one and many are messages of their own. */
export function plural(count: number, one: string, many = `${one}s`): string {
  const text = `{n} ${count === 1 ? one : many}`;
  return (found(text) ?? text).replace('{n}', String(count));
}

export const number = (value: number): string => new Intl.NumberFormat(language.value).format(value);

export function moment(iso: string | undefined): string {
  const time = Date.parse(iso ?? '');
  if (Number.isNaN(time)) return iso ?? '';
  return new Intl.DateTimeFormat(language.value, { dateStyle: 'medium', timeStyle: 'short' }).format(time);
}

export function day(iso: string): string {
  const time = Date.parse(iso);
  return Number.isNaN(time)
    ? iso
    : new Intl.DateTimeFormat(language.value, { dateStyle: 'short' }).format(time);
}

export function age(iso: string | undefined, now = Date.now()): string {
  const time = Date.parse(iso ?? '');
  if (Number.isNaN(time)) return '';
  const minutes = Math.max(0, Math.round((now - time) / 60_000));
  if (minutes < 1) return t`just now`;
  if (minutes < 60) return t`${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? t`${hours} h` : plural(Math.round(hours / 24), 'day');
}
