import { inProject } from '../../base/files/paths.ts';
import { attempt, expected, ours, quoted } from '../../base/errors.ts';
import { readInside } from '../../base/files/files.ts';
import { parseFrontMatter, type Table, textField } from '../../base/parse/parse.ts';
import { sectionsOf, withoutExamples } from '../../base/text/markdown.ts';
import { t } from '../../base/text/message.ts';
import { withoutEnds } from '../../base/text/text.ts';
import { rowIn } from '../../kit/text.ts';

/** What one team hands over to another, as a file that both can read and sign. */
export const HANDOVER_STATES = ['pending-acceptance', 'accepted', 'rejected', 'renegotiating'] as const;
export type HandoverState = (typeof HANDOVER_STATES)[number];

interface HandoverArtefact {
  name: string;
  path: string | undefined;
  required: boolean;
  line: number;
}

interface HandoverQuestion {
  question: string;
  critical: boolean;
  open: boolean;
  line: number;
}

export interface Handover {
  id: string | undefined;
  status: string | undefined;
  from: string | undefined;
  to: string | undefined;
  date: string | undefined;
  signedBy: string | undefined;
  artefacts: HandoverArtefact[];
  questions: HandoverQuestion[];
  decisions: number;
  /** Placeholders that nobody has filled in, with their lines. */
  unfilled: { text: string; line: number }[];
  problems: string[];
}

/** Headings in either language, whatever signs stand before them. */
const TITLES = {
  artefacts: /artefacts? livr|delivered artefacts?|deliverables/i,
  optional: /optionnel|optional/i,
  questions: /questions? ouvertes?|open questions?/i,
  decisions: /d[ée]cisions? cl[ée]s?|key decisions?/i,
};
const ITEM = /^\s*[-*]\s+\[[ xX]\]\s/;
const LONGEST_NAME = 300;
const PATH = /^\s*(?:[-*]\s*)?(?:📁\s*)?(?:chemin|path)\s*:\s*`([^`]{1,500})`/i;
const CRITICAL = /🔴|critique|critical/i;
const WAITING = /⏳|en attente|pending|open|ouverte?/i;

/** Reads a contract; one that is not as it should be is read as far as it goes, and told. */
export function readHandover(file: string, text: string): Handover {
  const problems: string[] = [];
  const data = frontMatter(file, text, problems);
  const field = (name: string): string | undefined => textField(data, name)?.trim() || undefined;
  const contract: Handover = {
    id: field('contract_id'),
    status: field('status'),
    from: field('from_team'),
    to: field('to_team'),
    date: field('date') ?? dateField(data),
    signedBy: field('signed_by'),
    artefacts: [],
    questions: [],
    decisions: 0,
    unfilled: [],
    problems,
  };
  const lines = withoutExamples(text);
  for (const [index, line] of lines.entries())
    for (const [placeholder] of line.matchAll(/\{\{[^{}]{0,200}\}\}/g))
      contract.unfilled.push({ text: placeholder, line: index + 1 });
  let within: keyof typeof TITLES | undefined;
  for (const { level, title, line: above, body } of sectionsOf(lines)) {
    const numbered = body.map((line, at) => ({ text: line, line: above + 1 + at }));
    if (level <= 2)
      within = (['artefacts', 'questions', 'decisions'] as const).find((name) => TITLES[name].test(title));
    if (within === 'artefacts')
      contract.artefacts.push(...artefactsIn(numbered, !TITLES.optional.test(title)));
    if (within === 'questions') contract.questions.push(...rows(numbered).map(questionOf));
    if (within === 'decisions') contract.decisions += rows(numbered).length;
  }
  return contract;
}

type Lines = readonly { text: string; line: number }[];

function artefactsIn(body: Lines, required: boolean): HandoverArtefact[] {
  const found: HandoverArtefact[] = [];
  for (const { text, line } of body) {
    const [box] = ITEM.exec(text) ?? [];
    const name = box === undefined ? '' : withoutEnds(text.slice(box.length).trim(), '*').trim();
    if (name !== '' && name.length <= LONGEST_NAME && !name.includes('*'))
      found.push({ name, path: undefined, required, line });
    const path = PATH.exec(text)?.[1];
    const last = found.at(-1);
    if (path !== undefined && last !== undefined) last.path = path;
  }
  return found;
}

/** The rows of a table without its head, and without those that only hold the place. */
function rows(body: Lines): { cells: string[]; line: number }[] {
  const found: { cells: string[]; line: number }[] = [];
  let headed = false;
  for (const { text, line } of body) {
    const isTableLine = text.trim().startsWith('|');
    if (!isTableLine) headed = false;
    const cells = rowIn(text);
    if (!isTableLine || cells === undefined) continue;
    if (!headed) headed = true;
    else if (cells.some((cell) => /[\p{L}\p{N}]/u.test(cell))) found.push({ cells, line });
  }
  return found;
}

function questionOf({ cells, line }: { cells: string[]; line: number }): HandoverQuestion {
  const [number = '', ...rest] = cells;
  const [question = '', weight = '', , state = ''] = /^\d*$/.test(number) ? rest : cells;
  return { question, critical: CRITICAL.test(weight), open: WAITING.test(state), line };
}

function frontMatter(file: string, text: string, problems: string[]): Table {
  const wrong = expected(({ message }) => void problems.push(message));
  const data = attempt(() => parseFrontMatter(file, text).data, wrong);
  if (data !== undefined && Object.keys(data).length === 0) problems.push(t`${file} has no front matter.`);
  return data ?? {};
}

/** YAML makes a date of what looks like one. */
function dateField(data: Table): string | undefined {
  const value: unknown = data['date'];
  return value instanceof Date ? value.toISOString().slice(0, 10) : undefined;
}

interface Finding {
  level: 'error' | 'warning';
  message: string;
  line?: number | undefined;
}

export interface Validation {
  valid: boolean;
  findings: Finding[];
}

const ARTEFACT_BYTES = 50_000_000;
const MANY_ARTEFACTS = 15;

/** Whether a contract is complete: what it promises is there, and nothing that matters is open. */
export async function validateHandover(root: string, contract: Handover, stem: string): Promise<Validation> {
  const findings: Finding[] = contract.problems.map((message) => ({ level: 'error', message }));
  const add = (level: Finding['level'], message: string, line?: number): void => {
    findings.push({ level, message, ...(line === undefined ? {} : { line }) });
  };
  for (const [name, value] of [
    ['from_team', contract.from],
    ['to_team', contract.to],
    ['date', contract.date],
    ['signed_by', contract.signedBy],
  ] as const)
    if (value === undefined) add('error', t`${name} is missing from the front matter.`);
  if (contract.status === undefined || !(HANDOVER_STATES as readonly string[]).includes(contract.status))
    add(
      'error',
      t`${contract.status === undefined ? t`There is no status` : t`${quoted(contract.status)} is not a status`}, so no one has answered it. The status must be one of ${HANDOVER_STATES.join(', ')}.`,
    );
  if (contract.id !== undefined && contract.id !== stem)
    add('warning', `contract_id is ${contract.id}, but the file is called ${stem}.`);
  for (const { text, line } of contract.unfilled) add('error', t`${text} has not been filled in.`, line);
  const required = contract.artefacts.filter((artefact) => artefact.required);
  if (required.length === 0) add('error', t`No required artefact is listed: there is nothing to deliver.`);
  if (contract.artefacts.length > MANY_ARTEFACTS)
    add('warning', t`${contract.artefacts.length} artefacts: consider splitting the contract in two.`);
  for (const { name, path, required: needed, line } of contract.artefacts) {
    const level = needed ? 'error' : 'warning';
    if (path === undefined) add(level, t`${name}: no path given.`, line);
    else {
      const problem = await missing(root, path);
      if (problem !== undefined) add(level, `${name}: ${path} ${problem}.`, line);
    }
  }
  for (const { question, critical, open, line } of contract.questions)
    if (open)
      add(critical ? 'error' : 'warning', t`Open${critical ? t` and critical` : ''}: ${question}`, line);
  if (contract.decisions === 0) add('warning', t`No key decisions are listed.`);
  return { valid: !findings.some(({ level }) => level === 'error'), findings };
}

async function missing(root: string, path: string): Promise<string | undefined> {
  const inner = inProject(root, path);
  if (inner === undefined) return t`is outside the project`;
  return readInside(root, inner, ARTEFACT_BYTES)
    .then(({ length }) => (length === 0 ? t`is empty` : undefined))
    .catch(ours(() => undefined, 'too_large'))
    .catch(ours(() => t`does not exist`, 'not_found'))
    .catch(expected(() => t`is outside the project or is not a file`));
}
