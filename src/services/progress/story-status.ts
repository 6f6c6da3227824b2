import { present, shortDigest } from '../../base/values.ts';
import { placed, withoutEnds } from '../../base/text/text.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { t } from '../../base/text/message.ts';
import { nearest } from '../../base/text/suggest.ts';
import { frontMatterOf } from './document.ts';
import type { Report, Story } from './found.ts';
import type { Row, SprintLedger } from './ledgers.ts';
import { ProjectFiles } from './places.ts';
import { readReport } from './report.ts';
import {
  fileWord,
  fileWords,
  rankOf,
  type RowKind,
  storyStatus,
  type StoryStatus,
  wordsFor,
} from './rules.ts';
import type { SpecFile } from './story-files.ts';
import { MAKE_LEDGER } from './workers.ts';
import {
  diffOf,
  type Edit,
  edited,
  replaced,
  stamp,
  whileLocked,
  writeTogether,
  type Writing,
} from './writes.ts';

/** What was set. */
interface StatusSet {
  key: string;
  from: string | undefined;
  to: string;
  files: { file: string; diff: string }[];
  /** Stands for exactly these changes, but for the time that a ledger notes. */
  proposal: string;
  /** What follows from it, or does not. */
  notes: string[];
  /** The key of an epic whose stories are now all done, which is for people to close. */
  ends?: string;
}

interface Asked {
  story: string;
  status: string;
  now: Date;
  /** Only says what would be written. */
  show?: boolean | undefined;
  /** What was shown: anything else is not written. */
  proposal?: string | undefined;
}

/** Sets the status of a story in the ledger and in its file, both or neither. */
export async function setStatus(root: string, asked: Asked): Promise<StatusSet> {
  const known = await readReport(root);
  const files = filesOf(targetOf(known, asked.story), known);
  return whileLocked(root, files, async () => {
    // What was read before the lock may be old.
    const project = new ProjectFiles(root);
    const report = await readReport(root, project);
    const target = targetOf(report, asked.story);
    const words = wordsOf(target, report, asked);
    const ledger = ledgerWriting(report, target, words, asked.now);
    const story = await storyWriting(project, target, words);
    // The file first: should the machine stop between the two, the ledger can be brought up to date from it.
    const writings = [story, ledger].filter(
      (each) => each !== undefined && each.before !== each.after,
    ) as Writing[];
    // A ledger notes the time; what stands for the change is the same a minute later.
    const proposal = shortDigest(
      JSON.stringify([target.key, words, writings.map(({ file, before }) => [file, before])]),
    );
    if (asked.proposal !== undefined && asked.proposal !== proposal)
      throw new BmadError('conflict', t`${target.key} has changed since; nothing was written.`, {
        subject: target.key,
        hint: t`Look at the change again.`,
      });
    if (asked.show !== true) await writeTogether(root, writings);
    const from = target.row?.word ?? target.file?.word;
    return {
      key: target.key,
      from: from === '' ? undefined : from,
      to: words.row ?? words.file ?? '',
      files: writings.map((writing) => ({ file: writing.file, diff: diffOf(writing) })),
      proposal,
      notes: notesOn(report, target, words),
      ...present({ ends: endedEpic(report, target, words) }),
    };
  });
}

const filesOf = ({ row, file }: StoryTarget, { sprint }: Report): string[] => [
  ...(row === undefined || sprint === undefined ? [] : [sprint.file]),
  ...(file === undefined ? [] : [file.file]),
];

/** What the row and the file are to say. */
interface Words {
  row: string | undefined;
  file: string | undefined;
}

function wordsOf({ row, kind, file, key }: StoryTarget, { sprint }: Report, { status }: Asked): Words {
  const inLedger = row === undefined || sprint === undefined ? [] : wordsFor(kind, sprint);
  // While a spec reviews itself its story is still being built.
  const legal =
    inLedger.length === 0 && file !== undefined
      ? fileWords(file)
      : [...inLedger, ...(file?.isSpec === true ? ['in-review'] : [])];
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, '');
  const word = legal.find((each) => plain(each) === plain(status));
  if (word === undefined)
    throw new BmadError('invalid_input', t`${quoted(status)} is not a status that ${key} can have.`, {
      subject: 'status',
      hint: t`One of: ${legal.join(', ')}.`,
    });
  if (inLedger.length === 0) return { row: undefined, file: word };
  const inRow = word === 'in-review' ? 'in-progress' : word;
  if (file === undefined) return { row: inRow, file: undefined };
  return { row: inRow, file: word === 'in-review' ? word : fileWord(word as StoryStatus, file) };
}

function ledgerWriting(
  report: Report,
  target: StoryTarget,
  { row: word }: Words,
  now: Date,
): Writing | undefined {
  const { sprint } = report;
  const { row, key } = target;
  if (sprint === undefined || row === undefined || word === undefined) return undefined;
  const edit = row.word === word ? undefined : replaced(row.pair, word);
  if (row.word !== word && edit === undefined) throw notEditable(sprint.file, row.line, key);
  const edits = [...(edit === undefined ? [] : [edit]), ...epicEdit(sprint, target, word)];
  const all = edits.length === 0 ? [] : [...edits, ...stamp(sprint, sprint.file, now)];
  return { file: sprint.file, before: sprint.text, after: edited(sprint.text, all) };
}

/** Where a ledger's own legend says that an epic begins when its first story is written. */
const BEGINS_EARLY = /^#.*first story is created/m;

/** By BMAD's own rules an epic begins with its first story. Its end is for the retrospective or for people to set. */
function epicEdit(sprint: SprintLedger, { kind, epic }: StoryTarget, word: string): Edit[] {
  const rank = rankOf('story', word) ?? 0;
  const begins = rankOf('story', BEGINS_EARLY.test(sprint.text) ? 'ready-for-dev' : 'in-progress') ?? 0;
  const row = epicRow(sprint, epic);
  if (kind !== 'story' || sprint.contexts || rank < begins || row === undefined) return [];
  const edit = row.means === 'backlog' || row.word === '' ? replaced(row.pair, 'in-progress') : undefined;
  return edit === undefined ? [] : [edit];
}

const epicRow = (sprint: SprintLedger, epic: number | undefined): Row | undefined =>
  sprint.duplicates.some(({ key }) => key === `epic-${epic}`)
    ? undefined
    : sprint.rows.find((row) => row.kind === 'epic' && row.epic === epic);

async function storyWriting(
  project: ProjectFiles,
  { file }: StoryTarget,
  { file: word }: Words,
): Promise<Writing | undefined> {
  if (file === undefined || word === undefined) return undefined;
  const read = await project.read(file.file);
  if (file.trouble !== undefined || read === undefined || 'trouble' in read)
    throw new BmadError(
      'conflict',
      t`${file.file} cannot be used; nothing was written: ${file.trouble ?? t`it is gone`}.`,
      {
        subject: file.file,
        hint: t`Repair the file, then ask again.`,
      },
    );
  const { text } = read;
  // What says the same in other words is left as it is.
  if (file.word === word) return { file: file.file, before: text, after: text };
  return { file: file.file, before: text, after: edited(text, [statusEdit(file, text, word)]) };
}

/** The place of the status in a file; a file that has none gets it where BMAD's template has it. */
function statusEdit(file: SpecFile & { v4?: boolean }, text: string, word: string): Edit {
  if (file.isSpec) {
    const { pairs, shift } = frontMatterOf(file.file, text);
    const pair = pairs.find(({ key }) => key === 'status');
    const edit = pair === undefined ? undefined : replaced(pair, word);
    if (edit === undefined) throw notEditable(file.file, file.line, t`its status`);
    return { ...edit, start: edit.start + shift, end: edit.end + shift };
  }
  if (file.line === undefined || file.word === undefined) {
    const end = text.includes('\r\n') ? '\r\n' : '\n';
    const title = /^# [^\r\n]*/m.exec(text);
    const lines = file.v4 === true ? ['## Status', word] : [`Status: ${word}`];
    const place =
      title === null
        ? lineStart(text, frontMatterOf(file.file, text).endLine + 1)
        : title.index + title[0].length;
    const added = lines.map((line) => (title === null ? line + end + end : end + end + line));
    return { start: place, end: place, text: added.join('') };
  }
  const start = lineStart(text, file.line);
  const said = start + text.slice(start).split('\n', 1).join('').lastIndexOf(file.word);
  // Marks of emphasis around the word and a comment behind it are not the word.
  const [bare = ''] = file.word.split('<!--', 1);
  const core = withoutEnds(bare.trim(), '*_`');
  const from = said + file.word.indexOf(core);
  return { start: from, end: from + core.length, text: word };
}

/** Where a line begins, the first being 1. */
function lineStart(text: string, line: number): number {
  let start = 0;
  for (let count = 1; count < line; count++) start = text.indexOf('\n', start) + 1;
  return start;
}

function notEditable(file: string, line: number | undefined, what: string): BmadError {
  return new BmadError(
    'conflict',
    t`${placed({ file, line })}: ${what} is written in a form that cannot be changed in its place; nothing was written.`,
    {
      subject: file,
      hint: t`Write it as one word on its own line, then ask again.`,
    },
  );
}

function notesOn(report: Report, target: StoryTarget, words: Words): string[] {
  const { sprint, others } = report;
  const { row, file, kind, epic, key } = target;
  const notes: string[] = [];
  const [was, is] = [row?.means, words.row].map((word) =>
    word === undefined ? undefined : rankOf(kind, word),
  );
  const [wasFile, isFile] = [file?.word, words.file].map((word) =>
    rankOf('story', storyStatus(word ?? '') ?? ''),
  );
  const isBack = row === undefined ? (wasFile ?? -1) > (isFile ?? 0) : (was ?? -1) > (is ?? 0);
  if (isBack) notes.push(t`This is a step back: ${key} was ${row?.word ?? file?.word}.`);
  if (kind === 'story' && row === undefined)
    notes.push(
      sprint === undefined
        ? report.locations.v4 || file?.v4 === true
          ? ''
          : t`There is no ledger, so only the file is set.`
        : t`${sprint.file} has no row for it, so only the file is set.`,
    );
  if (kind === 'story' && file === undefined) notes.push(t`It has no story file, so only the ledger is set.`);
  for (const other of others.filter((each) => each.includes('sprint-status')))
    notes.push(t`${other} is a second ledger and is left alone.`);
  const above = kind === 'story' && sprint !== undefined ? epicRow(sprint, epic) : undefined;
  if (above?.means === 'done' && words.row !== 'done')
    notes.push(t`${above.key} is done, and this story is not.`);
  return notes.filter(Boolean);
}

/** The epic that has no open story any more and is not called done. */
function endedEpic(
  { sprint, stories }: Report,
  { kind, epic, key }: StoryTarget,
  { row: word }: Words,
): string | undefined {
  const above = sprint === undefined || sprint.contexts ? undefined : epicRow(sprint, epic);
  const isDone = stories
    .filter((one) => one.epic === epic)
    .every(({ row }) => (row?.key === key ? word : row?.means) === 'done');
  return kind === 'story' && word === 'done' && isDone && above?.means !== 'done' ? above?.key : undefined;
}

/** A row of the ledger and the file that belongs to it; one of them may be missing. */
interface StoryTarget {
  key: string;
  kind: RowKind;
  epic: number | undefined;
  row: Row | undefined;
  file: (SpecFile & { v4?: boolean }) | undefined;
}

const NUMBER = /^(\d{1,6})[.-]0*(\d{1,6}[a-z]?)$/;

/** The story that an exact key or number names. */
function targetOf(report: Report, asked: string): StoryTarget {
  const { sprint, files } = report;
  const broken = report.broken.find(({ file }) => file.includes('sprint-status'));
  if (sprint === undefined && broken !== undefined)
    throw new BmadError(
      'conflict',
      t`The ledger cannot be used; nothing was written. ${placed(broken)}: ${broken.says}.`,
      {
        subject: broken.file,
        hint: t`Repair that line, then ask again.`,
      },
    );
  const [, ofEpic, ofStory] = NUMBER.exec(asked) ?? [];
  const isAsked = (one: { epic: number; story: string }): boolean =>
    Number(ofEpic) === one.epic && ofStory === one.story;
  const rows = (sprint?.rows ?? []).filter((row) =>
    ofEpic === undefined ? row.key === asked : row.kind === 'story' && isAsked(row),
  );
  refuseSeveral(sprint, rows, asked);
  const [row] = rows;
  const file =
    row === undefined
      ? (files.stories.find((one) => (ofEpic === undefined ? one.stem === asked : isAsked(one))) ??
        files.specs.find(({ stem }) => stem === asked))
      : row.kind === 'story'
        ? (files.stories.find(({ stem }) => stem === row.key) ??
          files.stories.find((one) => one.epic === row.epic && one.story === row.story))
        : undefined;
  if (row !== undefined || file !== undefined) {
    const numbered = files.stories.find((one) => one === file);
    const ownKey = numbered?.v4 === true ? `${numbered.epic}.${numbered.story}` : file?.stem;
    return {
      key: row?.key ?? ownKey ?? asked,
      kind: row?.kind ?? 'story',
      epic: row?.epic ?? numbered?.epic,
      row,
      file,
    };
  }
  const planned = storyNamed(report, asked)?.planned;
  if (planned !== undefined)
    throw new BmadError(
      'conflict',
      t`${asked} is only planned (${placed(planned)}): it has neither a row in a ledger nor a file.`,
      {
        subject: asked,
        ...(report.locations.v4 ? { hint: t`Write its story file first.` } : { steps: [MAKE_LEDGER] }),
      },
    );
  throw noSuchStory(report, asked);
}

function refuseSeveral(sprint: SprintLedger | undefined, rows: readonly Row[], asked: string): void {
  const keys = [...new Set(rows.map(({ key }) => key))];
  if (keys.length > 1)
    throw new BmadError('ambiguous', t`The ledger has several rows for ${asked}: ${keys.join(', ')}.`, {
      subject: asked,
      hint: t`Name the whole key.`,
    });
  const twice = sprint?.duplicates.find(({ key }) => key === keys[0]);
  if (sprint !== undefined && twice !== undefined)
    throw new BmadError(
      'conflict',
      t`${twice.key} appears in ${sprint.file} more than once, on lines ${twice.lines.join(t` and `)}; nothing was written.`,
      { subject: twice.key, hint: t`Remove the row that is wrong, then ask again.` },
    );
}

const NAMED = 6;

/** A story that there is none of, with those that are near: of its epic, or of a similar name. */
export function noSuchStory({ sprint, stories, files }: Report, asked: string): BmadError {
  const known = [
    ...new Set([
      ...stories.map(({ id }) => id),
      ...(sprint?.rows ?? []).map(({ key }) => key),
      ...files.specs.map(({ stem }) => stem),
    ]),
  ];
  const [, epic] = NUMBER.exec(asked) ?? [];
  const beside = stories.filter((one) => one.epic === Number(epic)).map(({ id }) => id);
  const near = beside.length > 0 ? beside : nearest(asked, known, NAMED);
  return new BmadError('not_found', t`There is no story ${quoted(asked)} in this project.`, {
    subject: asked,
    suggestions: (near.length > 0 ? near : known).slice(0, NAMED),
    hint: t`A story is named by its number (1.2 or 1-2) or by its whole key.`,
  });
}

/** The story that an exact key or number names, whether or not anything but the plan has it. */
export function storyNamed({ stories }: Report, asked: string): Story | undefined {
  const [, epic, story] = NUMBER.exec(asked) ?? [];
  return stories.find((one) =>
    epic === undefined
      ? one.id === asked || one.row?.key === asked || one.file?.stem === asked
      : one.epic === Number(epic) && one.story === story,
  );
}
