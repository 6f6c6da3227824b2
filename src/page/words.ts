import { computed, signal } from '@preact/signals';
import { en, type Words } from './words/en.ts';
import { fr } from './words/fr.ts';
import { kept, keep } from './kept.ts';

export type Language = 'en' | 'fr';

const ALL: Record<Language, Words> = { en, fr };

/** What a person has chosen; without it the language of the project, then that of the browser. */
const chosen = signal<string | undefined>(kept('language'));
const offered = signal<string | undefined>(undefined);

export const language = computed<Language>(() => {
  const wanted = chosen.value ?? offered.value ?? navigator.language;
  return wanted.toLowerCase().startsWith('fr') ? 'fr' : 'en';
});

export const words = computed<Words>(() => ALL[language.value]);

export function offerLanguage(name: string): void {
  // A project in English says nothing about the person who looks at it.
  if (!name.startsWith('en')) offered.value = name;
}

export function chooseLanguage(name: Language): void {
  chosen.value = name;
  keep('language', name);
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
  const { ages } = words.value;
  const minutes = Math.max(0, Math.round((now - time) / 60_000));
  if (minutes < 1) return ages.now;
  if (minutes < 60) return ages.minutes(minutes);
  const hours = Math.round(minutes / 60);
  return hours < 48 ? ages.hours(hours) : ages.days(Math.round(hours / 24));
}
