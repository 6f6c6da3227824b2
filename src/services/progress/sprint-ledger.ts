import { t } from '../../base/text/message.ts';
import { attempt, broken, ParseError } from '../../base/expected.ts';
import { conflictsIn } from '../../base/text/conflicts.ts';
import { yamlPairs, type YamlPair } from '../../base/parse/parse-places.ts';
import type { Evidence } from './model.ts';
import { meantWord, rankOf, type RowKind } from './words.ts';

/** One row of `development_status`. */
export interface Row {
  key: string;
  kind: RowKind;
  epic: number;
  /** `2`, `2a`; of a story only. */
  story: string;
  /** The word as it stands there. */
  word: string;
  /** The legal word it stands for; nothing when it stands for none. */
  means: string | undefined;
  line: number;
  pair: YamlPair;
  /** Where its key begins, and a place in its last line. */
  at: number;
  last: number;
}

interface ActionItem {
  action: string;
  epic: string;
  status: string;
  line: number;
}

export interface SprintLedger {
  file: string;
  text: string;
  rows: Row[];
  unknown: { key: string; line: number }[];
  duplicates: { key: string; lines: number[] }[];
  actionItems: ActionItem[];
  lastUpdated: YamlPair | undefined;
  /** Whether its own legend knows the words of the early alphas. */
  drafts: boolean;
  contexts: boolean;
}

/** A ledger that cannot be used, and why. */
export interface BrokenLedger {
  broken: Evidence;
}

const KEYS: readonly (readonly [RowKind, RegExp])[] = [
  ['retrospective', /^epic-(\d{1,6})-retrospective$/],
  ['epic', /^epic-(\d{1,6})$/],
  ['story', /^(\d{1,6})-(\d{1,6})([a-z]?)-.+/u],
];

/** The pairs of a ledger and the one with its rows, or what is wrong with it. */
export function ledgerPairs(
  file: string,
  text: string,
  name: string,
): { pairs: YamlPair[]; rows: YamlPair } | BrokenLedger {
  if (text.trim() === '') return { broken: { file, says: t`the file is empty` } };
  const pairs = attempt(
    // Both sides of a conflict have rows, at their places in the file; a key that both have counts as one with two rows.
    () => yamlPairs(file, conflictsIn(text)?.both ?? text) ?? [],
    broken((error) => ({ broken: { file, line: error.line, says: reasonOf(error) } })),
  );
  if ('broken' in pairs) return pairs;
  const rows = pairs.find(({ key }) => key === name);
  return rows === undefined ? { broken: { file, says: t`it has no "${name}"` } } : { pairs, rows };
}

/** Reads a sprint-status file. A broken one is told with its line and left alone. */
export function readSprintLedger(file: string, text: string): SprintLedger | BrokenLedger {
  const found = ledgerPairs(file, text, 'development_status');
  if ('broken' in found) return found;
  const { pairs, rows } = found;
  if (rows.pairs.length === 0)
    return { broken: { file, line: rows.line, says: t`"development_status" has no rows` } };
  const ledger: SprintLedger = {
    file,
    text,
    rows: [],
    unknown: [],
    duplicates: [],
    actionItems: actionItemsOf(pairs),
    lastUpdated: pairs.find(({ key }) => key === 'last_updated'),
    drafts: /\bdrafted\b/.test(text),
    contexts: /\bcontexted\b/.test(text),
  };
  const lines = new Map<string, number[]>();
  for (const pair of rows.pairs) {
    lines.set(pair.key, [...(lines.get(pair.key) ?? []), pair.line]);
    const row = rowOf(pair);
    if (row === undefined) ledger.unknown.push({ key: pair.key, line: pair.line });
    else ledger.rows.push(row);
  }
  for (const [key, places] of lines) if (places.length > 1) ledger.duplicates.push({ key, lines: places });
  return ledger;
}

export function isBroken(ledger: object): ledger is BrokenLedger {
  return 'broken' in ledger;
}

function rowOf(pair: YamlPair): Row | undefined {
  const { key, line } = pair;
  // Some tools keep a table in each row; its status is what counts.
  const value = pair.pairs.find((inner) => inner.key === 'status') ?? pair;
  const word = String(value.value ?? '');
  for (const [kind, pattern] of KEYS) {
    const match = pattern.exec(key);
    if (match === null) continue;
    const means = rankOf(kind, word) === undefined ? meantWord(kind, word) : word;
    const story = kind === 'story' ? `${Number(match[2])}${match[3] ?? ''}` : '';
    const last = Math.max(pair.at, ...pair.pairs.map((inner) => inner.at));
    return { key, kind, epic: Number(match[1]), story, word, means, line, pair: value, at: pair.at, last };
  }
  return undefined;
}

function actionItemsOf(pairs: readonly YamlPair[]): ActionItem[] {
  const list = pairs.find(({ key }) => key === 'action_items');
  return (list?.items ?? []).flatMap((item) => {
    const text = (name: string): string => String(item.find(({ key }) => key === name)?.value ?? '');
    const line = (item.find(({ key }) => key === 'status') ?? item[0] ?? list)?.line ?? 1;
    return text('action') === ''
      ? []
      : [{ action: text('action'), epic: text('epic'), status: text('status'), line }];
  });
}

function reasonOf(error: ParseError): string {
  const place = error.line === undefined ? error.file : `${error.file}:${error.line}`;
  return t`it is not valid YAML: ${error.message.slice(place.length + 2)}`;
}
