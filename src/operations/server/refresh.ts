import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { contentUri } from '../../base/files/paths.ts';
import { qualifiedName, type BmadRecord } from '../../model/record.ts';
import { projectField } from '../fields.ts';
import { titledList } from '../answer-text.ts';
import { defineOperation } from '../operation.ts';

const changeSchema = z.object({ kind: z.string(), name: z.string(), origin: z.string(), uri: z.string() });
type Change = z.output<typeof changeSchema>;

/** Longer lists are cut in the text; the data has them all. */
const SHOWN = 40;

export const refresh = defineOperation({
  name: 'refresh',
  title: 'Read the content again',
  description: 'Read all BMAD content from disk again and report what was added, changed or removed.',
  effect: 'read',
  behind: { bmad: 'refresh' },
  command: 'refresh',
  examples: ['refresh'],
  input: z.strictObject({ project: projectField }),
  output: z.object({
    project: z.string().optional(),
    /** Whether it had been read before, so that there was something to compare with. */
    known: z.boolean(),
    added: z.array(changeSchema),
    changed: z.array(changeSchema),
    removed: z.array(changeSchema),
    /** Whether files have come or gone, where a list of them had been made before. */
    files: z.boolean(),
    total: z.int(),
    origins: z.array(z.string()),
  }),

  async run(_input, context) {
    const changes = await context.refresh();
    const { catalogue } = await context.workspace();
    const { root } = changes.project;
    return {
      ...(root === undefined ? {} : { project: root }),
      known: changes.known,
      added: changes.added.map(changeOf),
      changed: changes.changed.map(changeOf),
      removed: changes.removed.map(changeOf),
      files: changes.files,
      total: catalogue.winners.length,
      origins: catalogue.sources.map(({ origin }) => origin.displayName),
    };
  },

  render({ known, added, changed, removed, files, total, origins }) {
    const found = t`${plural(total, 'record')} from ${origins.join(', ') || t`nowhere`}.`;
    if (!known) return { body: t`Read for the first time, so there is nothing to compare with. ${found}` };
    const lines = [
      ...section(t`Added`, added),
      ...section(t`Changed`, changed),
      ...section(t`Removed`, removed),
    ];
    if (files) lines.push(t`Files were added or removed.`);
    return { body: lines.length === 0 ? t`Nothing has changed.` : lines.join('\n'), note: found };
  },
});

function changeOf(record: BmadRecord): Change {
  return {
    kind: record.kind,
    name: qualifiedName(record),
    origin: record.origin.displayName,
    uri: contentUri(record.bmadRelativePath),
  };
}

function section(title: string, changes: readonly Change[]): string[] {
  const entries = changes.map(({ kind, name, origin }) => `${kind} ${name} (${origin})`);
  return titledList(title, entries, SHOWN);
}
