import { sha256 } from '../../base/values.ts';
import { withoutEnds, placed } from '../../base/text/text.ts';
import { basename, posix } from 'node:path';
import { BmadError, quoted } from '../../base/errors.ts';
import { yamlText } from '../../base/parse/parse.ts';
import { t } from '../../base/text/message.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { keyOf, type Planned } from './document.ts';
import type { Report } from './found.ts';
import type { Row, SprintLedger } from './ledgers.ts';
import { ProjectFiles } from './places.ts';
import { plansIn, readReport } from './report.ts';
import { FIRST_WORD, rankOf, type RowKind } from './rules.ts';
import { Workers } from './workers.ts';
import {
  diffOf,
  type Edit,
  edited,
  ledgerTime,
  replaced,
  stamp,
  whileLocked,
  writeTogether,
  type Writing,
} from './writes.ts';

interface PlannedSprint {
  proposal: string;
  file: string;
  /** Whether there was no ledger before. */
  isNew: boolean;
  epics: number;
  stories: number;
  diff: string | undefined;
  /** Rows of the ledger that are in no epic, each with its status. */
  orphans: { key: string; status: string }[];
  notes: string[];
  applied: boolean;
}

interface Asked {
  apply: boolean;
  proposal: string | undefined;
  /** Files or folders of the epics, where there are several versions. */
  epics: readonly string[];
  /** Whether rows that are in no epic are taken out, as BMAD's own script does. */
  drop: boolean;
  now: Date;
}

/** Makes the ledger from the epics, or brings it up to date with them; what is further along stays so. */
export async function planSprint(root: string, catalogue: Catalogue, asked: Asked): Promise<PlannedSprint> {
  const { file } = await proposed(root, catalogue, asked);
  const work = async (): Promise<PlannedSprint> => {
    const { writing, ...found } = await proposed(root, catalogue, asked);
    if (asked.proposal !== undefined && asked.proposal !== found.proposal)
      throw new BmadError(
        'conflict',
        t`The epics or the ledger have changed since that proposal; nothing was written.`,
        {
          subject: asked.proposal.slice(0, 100),
          hint: t`Ask for the changes again without "apply", review them, and use the new proposal.`,
        },
      );
    const isChanged = writing.before !== writing.after;
    if (asked.apply && isChanged) await writeTogether(root, [writing]);
    return { ...found, diff: isChanged ? diffOf(writing) : undefined, applied: asked.apply && isChanged };
  };
  return asked.apply ? whileLocked(root, [file], work) : work();
}

async function proposed(root: string, catalogue: Catalogue, asked: Asked) {
  const files = new ProjectFiles(root);
  const report = await readReport(root, files);
  refuse(report);
  const { epics, stories, notes } = await plannedIn(files, report, asked.epics);
  const rows = wantedRows(epics, stories, report.sprint);
  const { sprint, locations } = report;
  const hasFile = ({ key }: PlannedRow): boolean =>
    locations.stories.some((folder) => files.has(posix.join(folder, `${key}.md`)));
  const orphans = orphansOf(sprint, rows);
  const file = sprint?.file ?? posix.join(locations.sprint.folder, 'sprint-status.yaml');
  const made = async (now: Date, told: string[]): Promise<string> =>
    sprint === undefined
      ? newLedger(rows, hasFile, { root, report, catalogue, now })
      : renewed(sprint, rows, hasFile, { drop: asked.drop, now, notes: told });
  const writing: Writing = { file, before: sprint?.text, after: await made(asked.now, notes) };
  for (const other of report.others.filter((each) => each.includes('sprint-status')))
    notes.push(t`${other} is a second ledger and is left alone.`);
  return {
    // The time of the call is no part of what is proposed.
    proposal: sha256(JSON.stringify([file, sprint?.text ?? '', await made(new Date(0), [])])).slice(0, 12),
    file,
    isNew: sprint === undefined,
    epics: new Set(rows.map(({ epic }) => epic)).size,
    stories: rows.filter(({ kind }) => kind === 'story').length,
    orphans: orphans.map(({ key, word }) => ({ key, status: word })),
    notes,
    writing,
  };
}

function refuse({ locations, broken, sprint }: Report): void {
  if (locations.v4)
    throw new BmadError('conflict', t`BMAD 4 keeps no ledger: each story file has its own status.`, {
      hint: t`Set it with story_status.`,
      steps: [{ operation: 'next', args: {}, why: t`See what comes next` }],
    });
  const bad = broken.find(({ file }) => file.includes('sprint-status'));
  if (sprint === undefined && bad !== undefined)
    throw new BmadError(
      'conflict',
      t`The ledger cannot be used; nothing was written. ${placed(bad)}: ${bad.says}.`,
      {
        subject: bad.file,
        hint: t`Repair that line, or move the file away to have a new one made.`,
      },
    );
}

/** The epics and stories of the documents that are meant. Where two versions plan the same story, a person has to choose. */
async function plannedIn(files: ProjectFiles, { artefacts }: Report, wanted: readonly string[]) {
  const isWanted = (file: string): boolean =>
    wanted.length === 0 ||
    wanted.some((path) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`));
  const plans = await plansIn(files, artefacts);
  const stories = plans.flatMap((plan) => plan.stories).filter(({ file }) => isWanted(file));
  const epics = plans.flatMap((plan) => plan.epics).filter(({ file }) => isWanted(file));
  if (epics.length + stories.length === 0)
    throw new BmadError('not_found', t`No epics were found in the plans of this project.`, {
      hint: t`They are headings such as "## Epic 1: Base" and "### Story 1.1: Setup", in epics.md or in files of a folder "epics".`,
    });
  const versions = new Map<string, Planned>();
  const notes: string[] = [];
  for (const story of stories) {
    const first = versions.get(keyOf(story)) ?? story;
    versions.set(keyOf(story), first);
    if (first === story) continue;
    if (documentOf(first.file) !== documentOf(story.file))
      throw new BmadError(
        'ambiguous',
        t`Story ${keyOf(story)} is planned in ${placed(first)} and in ${placed(story)}; nothing was written.`,
        { subject: 'epics', hint: t`Name the file or the folder that is current as "epics".` },
      );
    notes.push(
      t`Story ${keyOf(story)} is planned twice, in ${placed(first)} and ${placed(story)}; the first is used.`,
    );
  }
  return { epics, stories: [...versions.values()], notes };
}

/** The pieces of a document lie in one folder, which is not the one of a whole document. */
const documentOf = (file: string): string =>
  /(?:^|\/)epics\/[^/]+$/i.test(file) ? posix.dirname(file) : file;

/** Epic by epic: its own row, its stories in the order of the plan, its retrospective. */
function wantedRows(
  epics: readonly Planned[],
  stories: readonly Planned[],
  sprint: SprintLedger | undefined,
): PlannedRow[] {
  const numbers = [...new Set([...epics, ...stories].map(({ epic }) => epic))].sort((a, b) => a - b);
  return numbers.flatMap((epic): PlannedRow[] => [
    { key: `epic-${epic}`, kind: 'epic', epic, story: '' },
    ...stories
      .filter((story) => story.epic === epic)
      .map((story): PlannedRow => ({ key: keyFor(story, sprint), kind: 'story', epic, story: story.story })),
    { key: `epic-${epic}-retrospective`, kind: 'retrospective', epic, story: '' },
  ]);
}

/** A story that has a row keeps its key, which is also the name of its file, whatever the plan calls it by now. */
function keyFor({ epic, story, title }: Planned, sprint: SprintLedger | undefined): string {
  const key = `${epic}-${story}-${slug(title)}`;
  const rows = (sprint?.rows ?? []).filter(
    (row) => row.kind === 'story' && row.epic === epic && row.story === story,
  );
  return rows.some((row) => row.key === key) ? key : (rows[0]?.key ?? key);
}

const SLUG_LENGTH = 60;

/** As BMAD's own script makes it. */
function slug(title: string): string {
  const words = withoutEnds(title.toLowerCase().replace(/[^\p{L}\p{N}_]+/gu, '-'), '-');
  return withoutEnds(Array.from(words).slice(0, SLUG_LENGTH).join(''), '-') || sha256(title).slice(0, 8);
}

function orphansOf(sprint: SprintLedger | undefined, wanted: readonly PlannedRow[]): Row[] {
  const keys = new Set(wanted.map(({ key }) => key));
  return (sprint?.rows ?? []).filter(({ key }) => !keys.has(key));
}

/** What the early alphas wrote and later versions have other words for; a ledger whose legend has them keeps them. */
const EARLIER: Record<string, string> = {
  drafted: 'ready-for-dev',
  contexted: 'in-progress',
  completed: 'done',
};

/** The ledger with the rows that it lacks and what files show; every other byte stays. */
function renewed(
  sprint: SprintLedger,
  wanted: readonly PlannedRow[],
  hasFile: (row: PlannedRow) => boolean,
  { drop, now, notes }: { drop: boolean; now: Date; notes: string[] },
): string {
  const { text, file, rows } = sprint;
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const [top] = rows;
  const indent = top === undefined ? '  ' : text.slice(lineStart(text, top.at), top.at);
  if (!/^[ \t]*$/.test(indent))
    throw new BmadError('conflict', t`${file} has its rows on one line; nothing was written.`, {
      subject: file,
      hint: t`Write each row on its own line, then ask again.`,
    });
  const edits: Edit[] = [];
  const first = top === undefined ? text.length : lineStart(text, top.at);
  let anchor = first;
  for (const [index, row] of wanted.entries()) {
    const known = rows.find(({ key }) => key === row.key);
    if (known !== undefined) {
      anchor = lineEnd(text, known.last);
      edits.push(...statusEdits(sprint, known, row, hasFile, notes));
      continue;
    }
    const word = row.kind === 'story' && hasFile(row) ? writtenWord(sprint) : FIRST_WORD[row.kind];
    const isBelow = anchor > 0 && text[anchor - 1] !== '\n' ? end : '';
    const apart = row.kind === 'epic' && index > 0 ? end : '';
    const line = `${indent}${yamlText(row.key)}: ${word}`;
    edits.push({
      start: anchor,
      end: anchor,
      text: isBelow === '' ? `${apart}${line}${end}` : `${isBelow}${apart}${line}`,
    });
  }
  if (anchor === first && edits.length > 0) edits.push({ start: first, end: first, text: end });
  const lost = drop ? orphansOf(sprint, wanted) : [];
  edits.push(
    ...lost.map((row) => ({ start: lineStart(text, row.at), end: lineEnd(text, row.last), text: '' })),
  );
  return edits.length === 0 ? text : edited(text, [...edits, ...stamp(sprint, file, now)]);
}

/** Whether a ledger's own legend knows a word. */
const explains = ({ text }: SprintLedger, word: string): boolean =>
  text.split('\n').some((line) => line.trimStart().startsWith('#') && line.includes(word));

/** What a story is whose file is there. */
const writtenWord = (sprint: SprintLedger): string =>
  explains(sprint, 'drafted') ? 'drafted' : 'ready-for-dev';

/** A row is only ever raised; a word that nobody understands is left to people. */
function statusEdits(
  sprint: SprintLedger,
  row: Row,
  wanted: PlannedRow,
  hasFile: (row: PlannedRow) => boolean,
  notes: string[],
): Edit[] {
  if (sprint.duplicates.some(({ key }) => key === row.key)) {
    notes.push(t`${row.key} appears in the ledger more than once; its rows were left alone.`);
    return [];
  }
  if (row.means === undefined && row.word !== '') {
    notes.push(
      t`${placed({ file: sprint.file, line: row.line })}: ${quoted(row.word)} is not a status of BMAD; it was left alone.`,
    );
    return [];
  }
  const now = row.means ?? FIRST_WORD[row.kind];
  const kept = explains(sprint, now) ? now : (EARLIER[now] ?? now);
  const least = row.kind === 'story' && hasFile(wanted) ? writtenWord(sprint) : FIRST_WORD[row.kind];
  const to = (rankOf(row.kind, kept) ?? 0) >= (rankOf(row.kind, least) ?? 0) ? kept : least;
  const edit = row.word === to ? undefined : replaced(row.pair, to);
  return edit === undefined ? [] : [edit];
}

const lineStart = (text: string, place: number): number => text.lastIndexOf('\n', place - 1) + 1;
const lineEnd = (text: string, place: number): number => {
  const end = text.indexOf('\n', place);
  return end === -1 ? text.length : end + 1;
};

/** A row that the epics ask for. */
interface PlannedRow {
  key: string;
  kind: RowKind;
  epic: number;
  story: string;
}

interface Making {
  root: string;
  report: Report;
  catalogue: Catalogue;
  now: Date;
}

/** A new ledger, in the form that the project's own version of sprint planning gives it. */
async function newLedger(
  rows: readonly PlannedRow[],
  hasFile: (row: PlannedRow) => boolean,
  { root, report, catalogue, now }: Making,
): Promise<string> {
  const { folder, stories, project = basename(root) } = report.locations.sprint;
  const date = ledgerTime(now);
  const values: Record<string, string> = {
    generated: date,
    last_updated: date,
    project,
    project_key: 'NOKEY',
    tracking_system: 'file-system',
    story_location: stories === '' ? folder : stories,
  };
  const form = await ledgerForm(catalogue);
  const drafts = form.legend.some((line) => /\bdrafted\b/.test(line));
  const written = drafts ? 'drafted' : 'ready-for-dev';
  const lines = rows.flatMap((row, index) => {
    const word = row.kind === 'story' && hasFile(row) ? written : FIRST_WORD[row.kind];
    return [...(row.kind === 'epic' && index > 0 ? [''] : []), `  ${yamlText(row.key)}: ${word}`];
  });
  const fields = form.fields.map((name) => `${name}: ${yamlText(values[name] ?? '')}`);
  // Versions without a script have the fields a second time, as comments, and blank lines between the parts.
  const all = form.isScripted
    ? [...form.legend, ...fields, 'development_status:', ...lines]
    : [
        ...fields.map((line) => `# ${line}`),
        '',
        ...form.legend,
        '',
        ...fields,
        '',
        'development_status:',
        ...lines,
      ];
  return `${all.join('\n')}\n`;
}

interface LedgerForm {
  legend: string[];
  fields: string[];
  isScripted: boolean;
}

const FIELDS = ['generated', 'last_updated', 'project', 'project_key', 'tracking_system', 'story_location'];

/** The legend and the fields that the project's sprint planning has: in its text, or where a script writes it in its template. */
async function ledgerForm(catalogue: Catalogue): Promise<LedgerForm> {
  const record = new Workers(catalogue).for('sprint planning', false)?.record;
  if (record === undefined) return { legend: [], fields: FIELDS, isScripted: true };
  const files = catalogue.files.preferring(record.origin);
  const paths = await files.below(posix.dirname(record.bmadRelativePath));
  const isScripted = paths.some((path) => path.endsWith('/scripts/sprint_plan.py'));
  const candidates = paths.filter((path) => (isScripted ? /template\.yaml$/ : /\.(?:md|yaml)$/).test(path));
  for (const path of candidates.sort((a, b) => Number(b.endsWith('.md')) - Number(a.endsWith('.md')))) {
    const lines = (await files.read(path)).bytes.toString('utf8').split(/\r?\n/);
    const from = lines.findIndex((line) => line.startsWith('# STATUS DEFINITIONS'));
    if (from === -1) continue;
    const count = lines.slice(from).findIndex((line) => !line.startsWith('#'));
    const legend = lines.slice(from, from + count);
    const fields = FIELDS.filter((name) => lines.slice(from).some((line) => line.startsWith(`${name}:`)));
    // The script leaves the mark of a comment out where its line is empty.
    return {
      legend: isScripted ? legend.map((line) => (line === '#' ? '' : line)) : legend,
      fields,
      isScripted,
    };
  }
  return { legend: [], fields: FIELDS, isScripted: true };
}
