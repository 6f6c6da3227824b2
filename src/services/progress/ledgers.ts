import { placed } from '../../base/text/text.ts';
import { push } from '../../base/values.ts';
import { attempt, broken, orElse, ParseError } from '../../base/errors.ts';
import { type YamlPair, yamlPairs } from '../../base/parse/yaml-document.ts';
import { conflictsIn } from '../../base/text/diff.ts';
import { posix } from 'node:path';
import { parseYaml, tableOf, textField } from '../../base/parse/parse.ts';
import { t } from '../../base/text/message.ts';
import type { ProjectFiles } from './places.ts';
import { type Evidence, type ItemKind, meantWord, rankOf, type RowKind } from './rules.ts';

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
function ledgerPairs(
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
    push(lines, pair.key, pair.line);
    const row = sprintRowOf(pair);
    if (row === undefined) ledger.unknown.push({ key: pair.key, line: pair.line });
    else ledger.rows.push(row);
  }
  for (const [key, places] of lines) if (places.length > 1) ledger.duplicates.push({ key, lines: places });
  return ledger;
}

export function isBroken(ledger: object): ledger is BrokenLedger {
  return 'broken' in ledger;
}

function sprintRowOf(pair: YamlPair): Row | undefined {
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
  return t`it is not valid YAML: ${error.message.slice(placed(error).length + 2)}`;
}

/** One workflow in `bmm-workflow-status.yaml` of the 6.0 alphas. */
interface WorkflowRow {
  id: string;
  kind: ItemKind | undefined;
  word: string;
  /** What the word says: not done yet, done with a file, done, left out on purpose, or nothing that is known. */
  says: 'open' | 'file' | 'done' | 'skipped' | 'invalid';
  required: boolean;
  line: number;
  pair: YamlPair;
}

export interface WorkflowLedger {
  file: string;
  text: string;
  rows: WorkflowRow[];
}

/** What is made, and the workflows of the ledgers that make it. */
const WORKFLOWS: readonly (readonly [ItemKind, readonly string[]])[] = [
  ['research', ['brainstorm-project', 'brainstorm', 'research', 'domain-research']],
  ['brief', ['product-brief', 'create-product-brief', 'game-brief']],
  ['prd', ['prd', 'create-prd', 'gdd']],
  ['spec', ['tech-spec', 'create-tech-spec']],
  ['ux', ['create-design', 'ux-design', 'create-ux-design']],
  ['architecture', ['architecture', 'create-architecture', 'game-architecture']],
  ['epics', ['create-epics-and-stories']],
  ['readiness', ['solutioning-gate-check', 'implementation-readiness', 'check-implementation-readiness']],
  ['sprint', ['sprint-planning']],
];

const OPEN =
  /^(?:required|optional|recommended|conditional|pending|not[-_ ]started|in[-_ ]progress|if_\w+)$/i;

export function readWorkflowLedger(file: string, text: string): WorkflowLedger | BrokenLedger {
  const found = ledgerPairs(file, text, 'workflow_status');
  if ('broken' in found) return found;
  const { pairs, items, line } = found.rows;
  const rows = [...pairs.map(fromPair), ...items.flatMap(fromItem)];
  return rows.length === 0
    ? { broken: { file, line, says: t`"workflow_status" lists no workflows` } }
    : { file, text, rows };
}

/** `prd: required`, or `prd: { status: required, … }`. */
function fromPair(pair: YamlPair): WorkflowRow {
  return workflowRowOf(pair.key, pair.line, pair.pairs.find(({ key }) => key === 'status') ?? pair);
}

/** `- id: prd` with a status beside it, or `- prd: required`. */
function fromItem(item: YamlPair[]): WorkflowRow[] {
  const id = item.find(({ key }) => key === 'id' || key === 'workflow' || key === 'name');
  const status = item.find(({ key }) => key === 'status');
  if (id !== undefined && status !== undefined) return [workflowRowOf(String(id.value), id.line, status)];
  const [only] = item;
  return item.length === 1 && only !== undefined ? [fromPair(only)] : [];
}

function workflowRowOf(id: string, line: number, pair: YamlPair): WorkflowRow {
  const word = String(pair.value ?? '').trim();
  const says = OPEN.test(word)
    ? 'open'
    : /^skipped$/i.test(word)
      ? 'skipped'
      : /^(?:complete|completed|done)$/i.test(word)
        ? 'done'
        : /\/|\.\w{2,5}$/.test(word) && !word.includes('{{')
          ? 'file'
          : 'invalid';
  const kind = WORKFLOWS.find(([, names]) => names.includes(id.toLowerCase()))?.[0];
  return { id, kind, word, says, required: /^required$/i.test(word), line: pair.line || line, pair };
}

/** What QA of version 4 has decided about a story. */
export interface Gate {
  file: string;
  line: number;
  gate: string;
  /** Its story was changed after it was written. */
  outdated: boolean;
}

/** A checkout or a copy writes files this near to each other; their times say nothing about which came first. */
const ONE_GO_MS = 2_000;

/** The gates of a folder, by the number of their story. */
export async function readGates(
  files: ProjectFiles,
  folder: string,
  storyOf: (key: string) => string | undefined,
): Promise<Map<string, Gate>> {
  const gates = new Map<string, Gate>();
  for (const file of await files.below(folder, 1)) {
    const [, epic, story] = /^(\d{1,6})\.(\d{1,6})\b.*\.ya?ml$/i.exec(posix.basename(file)) ?? [];
    const read = epic === undefined ? undefined : await files.read(file);
    if (read === undefined || 'trouble' in read) continue;
    const { text } = read;
    const table = tableOf(attempt(() => parseYaml(file, text), orElse(undefined)));
    const gate = textField(table, 'gate')?.toUpperCase();
    if (gate === undefined) continue;
    const line = text.split('\n').findIndex((each) => /^gate\s*:/.test(each)) + 1;
    const key = `${Number(epic)}.${Number(story)}`;
    const outdated = await isOutdated(
      files,
      file,
      Date.parse(textField(table, 'updated') ?? ''),
      storyOf(key),
    );
    gates.set(key, { file, line: line || 1, gate, outdated });
  }
  return gates;
}

/**
 * By the times of the files: a review writes into the story first and its gate last, and models make up the time that
 * they put into the gate. That counts only where the times of the files cannot tell.
 */
async function isOutdated(
  files: ProjectFiles,
  gate: string,
  updated: number,
  story: string | undefined,
): Promise<boolean> {
  if (story === undefined) return false;
  const [changed, written] = await Promise.all([files.changedAt(story), files.changedAt(gate)]);
  if (changed === undefined || written === undefined) return false;
  return Math.abs(changed - written) > ONE_GO_MS ? changed > written : changed > updated;
}
