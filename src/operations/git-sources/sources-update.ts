import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { defineOperation } from '../operation.ts';
import {
  DIFF,
  chosenViews,
  gitOptions,
  relationWords,
  short,
  sourceData,
  sourceField,
  sourceSchema,
} from './sources-view.ts';

const resultSchema = z.object({
  outcome: z.enum(['pinned', 'unchanged', 'pending', 'approved', 'failed']),
  /** The commit that was approved before. */
  before: z.string().optional(),
  hint: z.string().optional(),
  source: sourceSchema,
});
type Result = z.output<typeof resultSchema>;

export const sourcesUpdate = defineOperation({
  name: 'sources_update',
  title: 'Check git sources for changes',
  description:
    'Contact the remotes and fetch what is new. A new source is pinned; changes to a pinned one wait for approval.',
  effect: 'write',
  command: 'sources update',
  forPeople: true,
  positional: ['source'],
  examples: ['sources update', 'sources update team'],
  input: z.strictObject({ source: sourceField }),
  output: z.object({ results: z.array(resultSchema), ok: z.boolean() }),

  async run({ source }, context, call) {
    const team = await context.gitSources();
    const views = await chosenViews(team, source);
    const results = await team.update(views, {}, gitOptions(call));
    return {
      results: results.map(({ view, outcome, before, error }) => ({
        outcome,
        ...(before === undefined ? {} : { before }),
        ...(error?.hint === undefined ? {} : { hint: error.hint }),
        source: sourceData(view, team),
      })),
      ok: results.every(({ outcome }) => outcome !== 'failed'),
    };
  },

  failed: ({ ok }) => !ok,

  render({ results }) {
    const waiting = results.filter(({ outcome }) => outcome === 'pending').length;
    return {
      body: results.map(resultLine).join('\n'),
      note:
        waiting > 0
          ? t`The approved version is still served.`
          : results.some(({ outcome }) => outcome === 'approved' || outcome === 'pinned')
            ? t`Running servers serve it from the next call.`
            : t`The earlier content is still served.`,
      steps: waiting > 0 ? [DIFF] : [],
    };
  },
});

function resultLine({ outcome, before, hint, source }: Result): string {
  const commit = source.commit === undefined ? '' : short(source.commit);
  const pending = source.pending === undefined ? '' : short(source.pending.commit);
  const words: Record<Result['outcome'], string> = {
    pinned: t`pinned to ${commit}, ${plural(source.files ?? 0, 'file')}`,
    unchanged:
      before === undefined || before === source.commit
        ? t`unchanged at ${commit}`
        : t`now at ${commit}, with the same content as ${short(before)}`,
    pending: t`${pending} WAITS FOR APPROVAL (${relationWords(source.pending?.relation)}); ${commit} is served`,
    approved: t`now served: ${commit} instead of ${short(before ?? '')}`,
    failed: t`FAILED: ${source.trouble ?? ''}${source.commit !== undefined && source.files !== undefined ? t` The copy of ${commit} is still served.` : ''}${hint === undefined ? '' : ` ${hint}`}`,
  };
  return t`- ${source.source}: ${words[outcome]}`;
}
