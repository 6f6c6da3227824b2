import { BmadError } from '../../base/errors.ts';
import { readInside } from '../../base/files/files.ts';
import { isTooDeep } from '../../base/parse/json.ts';
import { field, isTable, type Table, textField } from '../../base/parse/parse.ts';
import { conflictsIn, conflictText } from '../../base/text/diff.ts';
import { t } from '../../base/text/message.ts';
import { sha256 } from '../../base/values.ts';
import { RUN_STATUSES, type RunArtefact, type RunState, type RunStatus } from '../../model/run.ts';
import { utf8Text } from '../../base/text/text.ts';

export const STATE_FILE = 'state.json';

/** What a state file says. Values of the wrong kind are left out and named; nothing is guessed. */
export function stateOf(table: Table, problems: string[]): RunState {
  const wrong = (name: string, wanted: string): undefined => {
    problems.push(t`"${name}" is not ${wanted} and is ignored.`);
    return undefined;
  };
  const text = (name: string): string | undefined => {
    const value = field(table, name);
    if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
    return wrong(name, t`a text`);
  };
  const moment = (name: string): string | undefined => {
    const value = text(name)?.trim();
    if (value === undefined || value === '') return undefined;
    return Number.isNaN(new Date(value).getTime()) ? wrong(name, t`a date`) : value;
  };
  const number = (name: string): number | undefined => {
    const value = field(table, name);
    if (value === undefined || value === null) return undefined;
    return numberOf(value) ?? wrong(name, t`a whole number`);
  };
  const list = (name: string): readonly unknown[] => {
    const value = field(table, name);
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value;
    wrong(name, t`a list`);
    return [];
  };
  const variables = field(table, 'session_variables');
  if (variables !== undefined && variables !== null && !isTable(variables))
    wrong('session_variables', t`an object`);
  const steps = list('steps_completed').map(numberOf);
  if (steps.includes(undefined)) wrong('steps_completed', t`a list of whole numbers`);
  return {
    runId: text('run_id'),
    workflow: text('workflow'),
    workflowPath: text('workflow_path'),
    branch: text('session_branch') ?? text('branch'),
    startedAt: moment('started_at'),
    lastCheckpoint: moment('last_checkpoint'),
    status: statusIn(table, problems),
    stepsCompleted: steps.filter((step) => step !== undefined),
    currentStep: number('current_step'),
    totalSteps: number('total_steps'),
    resumeFromStep: number('resume_from_step'),
    variables: isTable(variables) ? variables : {},
    artefacts: list('artefacts_produced').flatMap((each) => artefactOf(each, problems)),
    checkpointId: text('checkpoint_id'),
    issues: list('issues'),
    notes: text('agent_notes'),
    lastStep: text('last_step'),
    agent: text('agent'),
  };
}

/** Models write numbers as texts now and then. */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value.trim()) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

export function statusIn(table: Table, problems: string[] = []): RunStatus {
  if (field(table, 'abandoned') === true) return 'abandoned';
  const value = field(table, 'status');
  const known = RUN_STATUSES.find(
    (status) => status === (typeof value === 'string' ? value.trim().toLowerCase() : undefined),
  );
  if (known === undefined) problems.push(t`"status" must be pending, running, paused, completed or failed.`);
  return known ?? 'unknown';
}

function artefactOf(value: unknown, problems: string[]): RunArtefact[] {
  const path = typeof value === 'string' ? value : isTable(value) ? textField(value, 'path') : undefined;
  if (path === undefined || path.trim() === '') {
    problems.push(t`An entry in "artefacts_produced" has no path and is ignored.`);
    return [];
  }
  const table = isTable(value) ? value : {};
  const name = textField(table, 'name') ?? path.replace(/^.*[\\/]/, '');
  return [{ step: numberOf(field(table, 'step')), name, path, file: undefined }];
}

/** The highest step of a list that may be very long. */
export function lastStep(steps: Iterable<number>): number | undefined {
  let last: number | undefined;
  for (const step of steps) last = last === undefined || step > last ? step : last;
  return last;
}

const MAX_BYTES = 20_000_000;

/** A table, undefined if there is no file, or what is wrong with it in our own words. */
export type JsonReading =
  | { table: Table; broken?: undefined; conflict?: undefined }
  /** Which of the two sides of a conflict holds is not for the file to say. */
  | { table?: undefined; broken?: string; conflict?: true };

export async function readJson(base: string, path: string): Promise<JsonReading> {
  const text = await plainText(base, path);
  if (text === undefined) return {};
  if (typeof text !== 'string') return text;
  if (text.trim() === '') return { broken: t`is empty` };
  const conflicts = conflictsIn(text);
  if (conflicts !== undefined) return { broken: conflictText('', conflicts).trim(), conflict: true };
  try {
    const value: unknown = JSON.parse(text);
    if (isTooDeep(value)) return { broken: t`is nested too deeply` };
    return isTable(value) ? { table: value } : { broken: t`is not a JSON object` };
  } catch (error) {
    return { broken: t`is not valid JSON${placeOf(error, text)}` };
  }
}

/** The text, of a conflict both sides, which is told; nothing when there is no file. */
export async function readText(
  base: string,
  path: string,
  problems: string[] = [],
): ReturnType<typeof plainText> {
  const text = await plainText(base, path);
  const conflicts = typeof text === 'string' ? conflictsIn(text) : undefined;
  if (conflicts === undefined) return text;
  problems.push(`${conflictText(path, conflicts)}.`);
  return conflicts.both;
}

/** The text without its byte order mark. */
async function plainText(base: string, path: string): Promise<string | undefined | { broken: string }> {
  try {
    const bytes = await readInside(base, path, MAX_BYTES);
    const text = utf8Text(bytes);
    return text === undefined ? { broken: t`is not UTF-8` } : text.replace(/^\uFEFF/, '');
  } catch (error) {
    if (!(error instanceof BmadError)) throw error;
    if (error.code === 'not_found') return undefined;
    if (error.code === 'too_large') return { broken: t`is larger than ${MAX_BYTES} bytes` };
    return { broken: error.reason === 'outside' ? t`points outside and is not read` : t`cannot be read` };
  }
}

/** The parser's own words may repeat what is in the file; only the place is taken from them. */
function placeOf(error: unknown, text: string): string {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  if (position === undefined) return '';
  return t` (line ${text.slice(0, Number(position)).split('\n').length})`;
}

/** As our own files are. */
const USUAL = 2;

/** A table as JSON in the form that a file has: its indentation, line ends, last line, and whether it escapes letters. */
export function jsonLike(before: string, table: Table): string {
  const isOneLine = before.trim() !== '' && !before.trim().includes('\n');
  const indent = /^\s*\{\s*?\n([ \t]+)"/.exec(before)?.[1] ?? (isOneLine ? undefined : USUAL);
  const made = JSON.stringify(table, null, indent);
  const isAscii = /\\u[0-9a-f]{4}/i.test(before) && !/[^\0-\x7f]/.test(before);
  const spelled = isAscii
    ? made.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : made;
  const last = before === '' || before.endsWith('\n') ? '\n' : '';
  return `${spelled}${last}`.replaceAll('\n', before.includes('\r\n') ? '\r\n' : '\n');
}

/** Six hexadecimal digits of run, step and variables, the way BMAD's checkpoints are numbered. */
export function checkpointId(
  run: string,
  step: number,
  variables: Readonly<Record<string, unknown>>,
): string {
  return sha256(`${run}:${step}:${pythonJson(variables)}`).slice(0, 6);
}

/** By which a state is recognised, whatever the order of its keys. */
export function stateDigest(table: Readonly<Record<string, unknown>>): string {
  return sha256(pythonJson(table)).slice(0, 16);
}

/** JSON as Python's `json.dumps(value, sort_keys=True)` writes it, which is what checkpoint ids are made of. */
export function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const parts = Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .sort(([a], [b]) => byCodePoint(a, b))
      .map(([key, inner]) => `${ascii(key)}: ${pythonJson(inner)}`);
    return `{${parts.join(', ')}}`;
  }
  if (typeof value === 'string') return ascii(value);
  return JSON.stringify(value) ?? 'null';
}

function ascii(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007F-\uFFFF]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Python orders names by code points, JavaScript by halves of them. */
function byCodePoint(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (const [index, char] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = (char.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}
