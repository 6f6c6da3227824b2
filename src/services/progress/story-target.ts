import { t } from '../../base/text/message.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { nearest } from '../../base/text/suggest.ts';
import { at } from './model.ts';
import type { Report } from './report.ts';
import type { Row, SprintLedger } from './sprint-ledger.ts';
import type { Story } from './stories.ts';
import type { SpecFile } from './story-files.ts';
import type { RowKind } from './words.ts';
import { MAKE_LEDGER } from './workers.ts';

/** A row of the ledger and the file that belongs to it; one of them may be missing. */
export interface StoryTarget {
  key: string;
  kind: RowKind;
  epic: number | undefined;
  row: Row | undefined;
  file: (SpecFile & { v4?: boolean }) | undefined;
}

const NUMBER = /^(\d{1,6})[.-]0*(\d{1,6}[a-z]?)$/;

/** The story that an exact key or number names. */
export function targetOf(report: Report, asked: string): StoryTarget {
  const { sprint, files } = report;
  const broken = report.broken.find(({ file }) => file.includes('sprint-status'));
  if (sprint === undefined && broken !== undefined)
    throw new BmadError(
      'conflict',
      t`The ledger cannot be used; nothing was written. ${at(broken)}: ${broken.says}.`,
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
      t`${asked} is only planned (${at(planned)}): it has neither a row in a ledger nor a file.`,
      {
        subject: asked,
        ...(report.locations.v4 ? { hint: t`Write its story file first.` } : { steps: [MAKE_LEDGER] }),
      },
    );
  throw unknownStory(report, asked);
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
export function unknownStory({ sprint, stories, files }: Report, asked: string): BmadError {
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
