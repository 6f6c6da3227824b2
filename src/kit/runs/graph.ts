import { t } from '../../base/text/message.ts';
import { attempt, broken } from '../../base/expected.ts';
import { field, isTable, parseYaml, type Table, textField } from '../../base/parse/parse.ts';
import type { RunGraph } from '../../model/run.ts';
import { withoutEnds } from '../../base/text/ends.ts';

export const GRAPH_FILE = 'workflow-graph.yaml';
export const STATUS_FILE = 'workflow-status.md';

/** The plan in numbers, counted from its nodes: the figures in the file are kept by hand. */
export function graphOf(text: string): RunGraph | { broken: string } {
  let trouble = t`does not contain a graph`;
  const value = attempt(
    () => parseYaml(GRAPH_FILE, text),
    broken(({ line }) => {
      trouble = t`is not valid YAML${line === undefined ? '' : t` (line ${line})`}`;
    }),
  );
  if (!isTable(value)) return { broken: trouble };
  const workflow = field(value, 'workflow');
  const nodes = field(value, 'nodes');
  const tables = (Array.isArray(nodes) ? (nodes as unknown[]) : []).filter(isTable);
  const named = (status: string): string[] =>
    tables
      .filter((node) => textField(node, 'status') === status)
      .map((node) => textField(node, 'label') ?? textField(node, 'id') ?? '?');
  return {
    status: isTable(workflow) ? textField(workflow, 'status') : undefined,
    total: tables.length,
    completed: named('completed').length + named('skipped').length,
    running: named('running'),
    failed: named('failed'),
  };
}

/** The first two cells of a row, without the marks around them. */
function pairIn(line: string): [label: string, value: string] | undefined {
  const [before, label = '', value = '', rest] = line.split('|', 4);
  if (before !== '' || rest === undefined) return undefined;
  return [withoutEnds(label.trim(), '*').trim(), value.trim().replace(/^`|`$/g, '').trim()];
}

/** The table at the top of a status file as a state, for runs that have no other. French and English words. */
export function statusFileTable(text: string): Table {
  const table: Table = {};
  for (const line of text.split(/\r?\n/)) {
    const [label, value] = pairIn(line.trim()) ?? ['', ''];
    const key = KEYS.find(([pattern]) => pattern.test(label))?.[1];
    if (key === undefined || value === '' || value.includes('{{')) continue;
    if (key !== 'current_step') table[key] = value;
    else {
      const [current, total] = value.split('/').map((part) => part.trim());
      table['current_step'] = current;
      if (total !== undefined) table['total_steps'] = total;
    }
  }
  if (typeof table['status'] === 'string')
    table['status'] = table['status'].toLowerCase().replace(/[^a-z]/g, '');
  return table;
}

const KEYS: readonly (readonly [RegExp, string])[] = [
  [/^run id$/i, 'run_id'],
  [/^workflow$/i, 'workflow_path'],
  [/^(?:démarré le|started)/i, 'started_at'],
  [/^(?:dernière maj|last update)/i, 'last_checkpoint'],
  [/^(?:step courant|current step|étape courante)$/i, 'current_step'],
  [/^(?:statut global|status|overall status)$/i, 'status'],
  [/^(?:session branch|branche de session)$/i, 'session_branch'],
];
