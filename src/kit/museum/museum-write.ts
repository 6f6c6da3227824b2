import { appendLine, replaceShared } from '../../base/files/file-shared.ts';
import { localDay, utcOf, withoutEnd } from '../../base/text/text.ts';
import {
  type Failure,
  type FailureFields,
  MUSEUM_FILE,
  MUSEUM_LOG,
  museumIn,
  museumLog,
  severityOf,
} from './museum.ts';
import { addToSection, lineEndOf, whileLocked, asLine, textToChange } from '../text.ts';
import { inProject, type Kit, type KitWithMemory } from '../kit.ts';
import { ENGLISH, languageOf, type Wording, projectWording } from '../language.ts';
import type { Severity } from '../../model/memory.ts';

export interface NewFailure extends FailureFields {
  title: string;
  category: string;
  severity: Exclude<Severity, 'unknown'>;
  agent?: string | undefined;
  tags: readonly string[];
  status: Exclude<Failure['status'], 'unknown'>;
}

export interface FailureWritten {
  id?: string;
  files: string[];
  /** False when the museum has had it already. */
  added: boolean;
  notes: string[];
}

/** Adds a failure to the museum in the form that the project's museum has. */
export async function writeFailure(
  kit: KitWithMemory,
  failure: NewFailure,
  now: Date,
): Promise<FailureWritten> {
  return whileLocked(kit, async () => {
    const log = await textToChange(kit, MUSEUM_LOG);
    const page = await textToChange(kit, MUSEUM_FILE);
    const inLog =
      log !== undefined || (kit.family === 'grimoire' && (page === undefined || isNumbered(page)));
    return inLog ? intoLog(kit, failure, now, log ?? '', page) : intoPage(kit, failure, now, page);
  });
}

/** A long page is read through only where it can have what is looked for. */
const isNumbered = (page: string): boolean =>
  page.includes('FM-') && museumIn(page, '').some(({ id }) => id !== undefined);

function isSame(known: Failure, fresh: NewFailure, day: string): boolean {
  return (
    known.title === asLine(fresh.title) &&
    known.category === fresh.category &&
    localDay(new Date(utcOf(known.date) ?? 0)) === day
  );
}

async function intoLog(
  kit: KitWithMemory,
  failure: NewFailure,
  now: Date,
  log: string,
  page: string | undefined,
): Promise<FailureWritten> {
  const problems: string[] = [];
  const known = museumLog(log, inProject(kit, MUSEUM_LOG), problems);
  const twin = known.find((other) => isSame(other, failure, localDay(now)));
  const logged = [...known, ...museumIn(page ?? '', '')];
  const highest = Math.max(0, ...logged.map(({ id }) => numberOf(id ?? '')));
  const id = twin?.id ?? `FM-${String(highest + 1).padStart(3, '0')}`;
  const entry = {
    failure_id: id,
    sequence: highest + 1,
    timestamp: now.toISOString().replace('Z', '000+00:00'),
    title: asLine(failure.title),
    severity: LOG_WORD[failure.severity],
    agents: failure.agent === undefined ? [] : [failure.agent],
    description: asLine([failure.happened ?? failure.title, failure.impact].filter(Boolean).join(' — ')),
    root_cause: asLine(failure.cause ?? ''),
    fix: asLine(failure.fix ?? failure.lesson ?? ''),
    rule_added: asLine(failure.rule ?? ''),
    // This family has no categories; a tag is where its tools look.
    tags: [...new Set([failure.category, ...failure.tags])],
    status: failure.status,
  };
  if (twin === undefined) await appendLine(kit.memory, MUSEUM_LOG, JSON.stringify(entry));
  const files = [inProject(kit, MUSEUM_LOG)];
  const notes = [...problems];
  // Also when nothing was added: an attempt before this one may have ended between the two files.
  const all = museumLog(
    twin === undefined
      ? `${log}${log === '' || log.endsWith('\n') ? '' : '\n'}${JSON.stringify(entry)}`
      : log,
    '',
    [],
  );
  if (problems.length > 0)
    notes.push(`${MUSEUM_FILE} was not regenerated: the log has lines that cannot be read.`);
  else if (page === undefined || isGenerated(page, all)) {
    const next = formatPage(all, page);
    if (next !== page) await replaceShared(kit.memory, MUSEUM_FILE, next);
    files.push(inProject(kit, MUSEUM_FILE));
  } else notes.push(`${inProject(kit, MUSEUM_FILE)} was left unchanged: it has been edited by hand.`);
  return { id, files, added: twin === undefined, notes };
}

const FIELDS = ['happened', 'cause', 'impact', 'lesson', 'fix', 'rule', 'status'] as const;

/** A line for each field of a failure that says something; that it is resolved goes without saying. */
function fieldLines(
  failure: NewFailure,
  words: Wording['museum'],
  line: (label: string, value: string) => string,
): string[] {
  return FIELDS.filter((field) => field !== 'status' || failure.status !== 'resolved').flatMap((field) => {
    const value = field === 'status' ? words.statuses[failure.status] : (failure[field] ?? '');
    return value.trim() === '' ? [] : [line(words[field], asLine(value))];
  });
}

function newPage({ severities }: Wording['museum']): string {
  const shelves = Object.values(severities).map((heading) => `## ${heading}\n\n---\n`);
  return `# 🏛️ Failure Museum\n\n${shelves.join('\n')}`;
}

async function intoPage(
  kit: KitWithMemory,
  failure: NewFailure,
  now: Date,
  page: string | undefined,
): Promise<FailureWritten> {
  const words = languageOf(page, await projectWording(kit)).museum;
  const text = page === undefined || page.trim() === '' ? newPage(words) : page;
  const day = localDay(now);
  const files = [inProject(kit, MUSEUM_FILE)];
  const isThere = text.includes(asLine(failure.title));
  if (isThere && museumIn(text, '').some((known) => isSame(known, failure, day)))
    return { files, added: false, notes: [] };
  const lines = [
    `### [${day}] ${failure.agent === undefined ? '' : `[${failure.agent}] `}${failure.category} — ${asLine(failure.title)}`,
    ...fieldLines(failure, words, (label, value) => `**${label}** : ${value}`),
  ];
  const next = addToSection(
    text,
    ({ level, title }) => level <= 2 && severityOf(title) === failure.severity,
    lines,
    {
      placeholder: {
        is: (line) => /^\s*[*_]\(.*\)[*_]\s*$/.test(line),
        mayBeIn: (body) => body.includes('*(') || body.includes('_('),
      },
    },
  );
  const end = lineEndOf(text);
  const added = [`## ${words.severities[failure.severity]}`, '', ...lines].map((line) => `${line}${end}`);
  await replaceShared(
    kit.memory,
    MUSEUM_FILE,
    next ?? `${text}${text.endsWith('\n') ? '' : end}${end}${added.join('')}`,
  );
  return { files, added: true, notes: [] };
}

const HEAD = [
  '# Failure Museum',
  '',
  '> Les échecs du projet, leur cause et la règle qui en est née.',
  '> Généré depuis `failure-museum.jsonl` : ajouter une entrée au journal, pas ici.',
  '',
  '---',
  '',
].join('\n');

const FIELD =
  /^- \*\*(?:Date|Sévérité|Agent\(s\) impliqué\(s\)|Description|Cause racine|Correctif|Règle ajoutée|Tags|Statut)\*\*:/;

/**
 * Whether a page was made from the log: it has nothing but numbered entries with their fields, and the log has them all.
 * Anything else was written by a person and would be lost.
 */
function isGenerated(page: string, log: readonly Failure[]): boolean {
  const start = page.search(/^## /m);
  const entries = start < 0 ? '' : page.slice(start);
  const head = start < 0 ? page : page.slice(0, start);
  const isPlainHead = head.split(/\r?\n/).every((line) => /^(?:#\s.*|>.*|-{3,}\s*|\s*)$/.test(line));
  const isPlainBody = entries
    .split(/\r?\n/)
    .every((line) => /^(?:## FM-\d+ .*|-{3,}\s*|\s*)$/.test(line) || FIELD.test(line));
  const ids = new Set(log.map(({ id }) => id));
  return isPlainHead && isPlainBody && museumIn(page, '').every(({ id }) => ids.has(id));
}

const LOG_WORD = { critical: 'high', important: 'medium', micro: 'low', unknown: 'medium' } as const;

/** The page generated from the log; the text above the entries is preserved. */
function formatPage(log: readonly Failure[], page: string | undefined): string {
  const start = page?.search(/^## /m) ?? -1;
  const head =
    page === undefined || page.trim() === ''
      ? HEAD
      : start < 0
        ? `${page.trimEnd()}\n\n`
        : page.slice(0, start);
  const entries = log.map(
    ({ id, heading, date, severity, agents, happened, cause, fix, rule, tags, status }) =>
      [
        `## ${id ?? 'FM-000'} — ${asLine(heading)}`,
        `- **Date**: ${date?.slice(0, 10) ?? ''}`,
        `- **Sévérité**: ${LOG_WORD[severity]}`,
        `- **Agent(s) impliqué(s)**: ${agents.join(', ') || 'unknown'}`,
        `- **Description**: ${asLine(happened ?? '')}`,
        `- **Cause racine**: ${asLine(cause ?? '')}`,
        `- **Correctif**: ${asLine(fix ?? '')}`,
        `- **Règle ajoutée**: ${asLine(rule ?? '')}`,
        ...(tags.length === 0 ? [] : [`- **Tags**: ${tags.join(', ')}`]),
        `- **Statut**: ${status === 'unknown' ? 'resolved' : status}`,
        '',
        '---',
        '',
      ].join('\n'),
  );
  const text = `${head}${entries.join('\n')}`;
  return page?.includes('\r\n') === true ? text.replace(/\r?\n/g, '\r\n') : text;
}

/** The number at the end of an id; 0 where there is none. */
function numberOf(id: string): number {
  return Number(id.slice(withoutEnd(id, '0123456789').length));
}

/** A failure as one text, for where there is no museum: its title, and a line with a label for all else. */
export async function failureText(kit: Kit, failure: NewFailure): Promise<string> {
  const { museum } = await projectWording(kit);
  const colon = museum === ENGLISH.museum ? ':' : ' :';
  return [
    `${failure.category} — ${asLine(failure.title)}`,
    ...fieldLines(failure, museum, (label, value) => `${label}${colon} ${value}`),
  ].join('\n');
}
