import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { present } from '../../base/values.ts';
import { originList, originsCalled, type Origin } from '../../model/origin.ts';
import { qualifiedName, type BmadRecord } from '../../model/record.ts';
import { projectField, textUpTo } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { findRecord, NAMED_KINDS } from './names.ts';

export const preferOrigin = defineOperation({
  name: 'prefer_origin',
  title: 'Prefer an origin',
  description:
    'Choose the origin that an agent or a workflow is served from, in your own configuration. It takes effect with the next call.',
  effect: 'write',
  command: 'prefer',
  forPeople: true,
  positional: ['name', 'origin'],
  examples: ['prefer architect package', 'prefer architect'],
  input: z.strictObject({
    name: textUpTo(300).describe('Agent or workflow, e.g. "architect"'),
    origin: textUpTo(300)
      .optional()
      .describe('Origin, as "explain" names it; without one, the usual order holds again'),
    kind: z.enum(NAMED_KINDS).optional().describe('Agent or workflow, if the name could be either'),
    project: projectField,
  }),
  output: z.object({
    name: z.string(),
    origin: z.string().optional(),
    /** The setting, as it is now. */
    prefer: z.array(z.string()),
    file: z.string(),
  }),
  async run({ name, origin, kind }, context) {
    const { configFrom } = context;
    if (['flag', 'environment'].includes(configFrom.prefer.layer))
      throw new BmadError('conflict', t`The setting prefer comes from ${configFrom.prefer}.`, {
        hint: t`Change it there, or leave it out so that your configuration file counts.`,
      });
    const workspace = await context.workspace();
    const { catalogue } = workspace;
    const winner = findRecord({ name, kind, fuzzy: false }, workspace, context);
    const rivals = catalogue.rivalsOf(winner);
    const wanted = origin === undefined ? undefined : rivalFrom(rivals, origin);
    const all = catalogue.sources.map((source) => source.origin);
    const own = wanted === undefined ? [] : [`${qualifiedName(wanted)}=${wordFor(wanted.origin, all)}`];
    const { file, entries } = await context.changePreferred((before) => [
      ...own,
      ...before.filter((entry) => !rivals.some((record) => catalogue.isAbout(record, entry))),
    ]);
    return {
      name: qualifiedName(wanted ?? winner),
      ...present({ origin: wanted?.origin.displayName }),
      prefer: [...entries],
      file,
    };
  },
  render: ({ name, origin, file }) => ({
    body:
      origin === undefined
        ? t`${name} is served in the usual order of origins again.`
        : t`${name} is now served from ${origin}.`,
    note: file,
    steps: [{ operation: 'explain', args: { target: name }, why: t`See what is served` }],
  }),
});

function rivalFrom(rivals: readonly BmadRecord[], origin: string): BmadRecord {
  const origins = rivals.map((record) => record.origin);
  const meant = new Set(originsCalled(origin, origins));
  const found = rivals.find((record) => meant.has(record.origin) && record.exists);
  if (found !== undefined) return found;
  throw new BmadError('not_found', t`It does not come from ${quoted(origin)}.`, {
    hint: t`It comes from: ${originList(origins)}.`,
  });
}

/** The kind, where there is one origin of it: names have versions in them, which change. */
function wordFor({ kind, displayName }: Origin, all: readonly Origin[]): string {
  const word = all.filter((each) => each.kind === kind).length === 1 ? kind : displayName;
  if (!word.includes('=')) return word;
  throw new BmadError(
    'unavailable',
    t`The setting prefer cannot name ${quoted(displayName)}: it has a "=" in it.`,
  );
}
