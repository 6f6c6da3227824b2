import { attempt, broken, ParseError } from '../../base/expected.ts';
import { yamlPairs, type YamlPair } from '../../base/parse/parse-places.ts';
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
}

interface ActionItem {
  action: string;
  epic: string;
  owner: string;
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

export interface BrokenLedger {
  file: string;
  line?: number;
  broken: string;
}

const EPIC_KEY = /^epic-(\d{1,6})$/;
const RETRO_KEY = /^epic-(\d{1,6})-retrospective$/;
const STORY_KEY = /^(\d{1,6})-(\d{1,6})([a-z]?)-.+/u;

/** The pairs of a ledger, or what is wrong with it. */
export function ledgerPairs(file: string, text: string): YamlPair[] | undefined | BrokenLedger {
  return attempt(
    () => yamlPairs(file, text),
    broken((error) => ({ file, ...error.place, broken: reasonOf(error) })),
  );
}

/** Reads a sprint-status file. A broken one is told with its line and left alone. */
export function readSprintLedger(file: string, text: string): SprintLedger | BrokenLedger {
  if (text.trim() === '') return { file, broken: 'the file is empty' };
  const pairs = ledgerPairs(file, text);
  if (pairs !== undefined && 'broken' in pairs) return pairs;
  const status = pairs?.find(({ key }) => key === 'development_status');
  if (pairs === undefined || status === undefined) return { file, broken: 'it has no "development_status"' };
  if (status.pairs.length === 0)
    return { file, line: status.line, broken: '"development_status" has no rows' };
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
  for (const pair of status.pairs) {
    lines.set(pair.key, [...(lines.get(pair.key) ?? []), pair.line]);
    const row = rowOf(pair);
    if (row === undefined) ledger.unknown.push({ key: pair.key, line: pair.line });
    else ledger.rows.push(row);
  }
  for (const [key, found] of lines) if (found.length > 1) ledger.duplicates.push({ key, lines: found });
  return ledger;
}

export function isBroken(ledger: SprintLedger | BrokenLedger): ledger is BrokenLedger {
  return 'broken' in ledger;
}

function rowOf(pair: YamlPair): Row | undefined {
  const { key, line } = pair;
  // Some tools keep a table in each row; its status is what counts.
  const value = pair.pairs.find((inner) => inner.key === 'status') ?? pair;
  const word = value.value === null || value.value === undefined ? '' : String(value.value);
  const [kind, match] = classified(key);
  if (kind === undefined || match === null) return undefined;
  const means = rankOf(kind, word) === undefined ? meantWord(kind, word) : word;
  const story = kind === 'story' ? `${Number(match[2])}${match[3] ?? ''}` : '';
  return { key, kind, epic: Number(match[1]), story, word, means, line, pair: value };
}

function classified(key: string): [RowKind | undefined, RegExpExecArray | null] {
  for (const [kind, pattern] of [
    ['retrospective', RETRO_KEY],
    ['epic', EPIC_KEY],
    ['story', STORY_KEY],
  ] as const) {
    const match = pattern.exec(key);
    if (match !== null) return [kind, match];
  }
  return [undefined, null];
}

function actionItemsOf(pairs: readonly YamlPair[]): ActionItem[] {
  const list = pairs.find(({ key }) => key === 'action_items');
  return (list?.items ?? []).flatMap((item) => {
    const text = (name: string): string => String(item.find(({ key }) => key === name)?.value ?? '');
    const line = (item.find(({ key }) => key === 'status') ?? item[0] ?? list)?.line ?? 1;
    return text('action') === ''
      ? []
      : [{ action: text('action'), epic: text('epic'), owner: text('owner'), status: text('status'), line }];
  });
}

function reasonOf(error: ParseError): string {
  const place = error.line === undefined ? error.file : `${error.file}:${error.line}`;
  return `it is not valid YAML: ${error.message.slice(place.length + 2)}`;
}
