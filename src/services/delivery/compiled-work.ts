import { field, isTable, type Table } from '../../base/parse/parse.ts';
import type { MenuDialect } from './compiled-menu.ts';

/** A compiled agent with a customization in it. */
export interface MergedAgent {
  text: string;
  /** What of the customization the text has now: `name`, `persona`, `menu (2 entries)`. */
  merged: string[];
  /** What the installers of this generation leave out, or what has no place in this text. */
  left: string[];
  /** What they leave out although an agent could follow it: the memories and prompts of the early alphas. */
  extra: { title: string; body: string }[];
}

/** One state of the work: the text so far, and what there is to tell of it. */
export interface Work extends MergedAgent {
  custom: Table;
  /** The builder of the first alphas: persona field by field, neither memories nor prompts. */
  isEarly: boolean;
  menu: MenuDialect;
  handler(type: string): Promise<string | undefined>;
}

/** Templates of customizations are full of values that say nothing. */
export const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isTable(value) && Object.values(value).every(isEmpty));

export function plain(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** The entries of a list that say something; what is not a list is left, with a word about it. */
export function listOf(work: Work, key: string): unknown[] {
  const value = field(work.custom, key);
  if (isEmpty(value)) return [];
  if (Array.isArray(value)) return value.filter((item) => !isEmpty(item));
  work.left.push(`${key}, which is not a list`);
  return [];
}
