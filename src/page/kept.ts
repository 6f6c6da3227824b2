import { signal } from '@preact/signals';

/** What a browser remembers for a person; one that remembers nothing does no harm. */
export function kept(name: string): string | undefined {
  try {
    return localStorage.getItem(`bmad.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`bmad.${name}`, value);
  } catch {
    // It holds until the page is closed.
  }
}

const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const theme = signal<Theme>(THEMES.find((name) => name === kept('theme')) ?? 'system');

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.value;
}

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'system';
  keep('theme', theme.value);
  applyTheme();
}
