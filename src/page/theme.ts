import { signal } from '@preact/signals';
import { keep, kept } from './kept.ts';

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
