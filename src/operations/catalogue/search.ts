import { say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import type { Step } from '../../base/step.ts';
import { answerRoom, fittingPage } from '../../base/text/paging.ts';
import { fold } from '../../base/text/suggest.ts';
import { STARTABLE, type BmadRecord, type RecordKind } from '../../model/record.ts';
import type { Workspace } from '../context.ts';
import { type Detail, detailField, moduleField, originField, pageFields, textUpTo } from '../fields.ts';
import { nextPart, sized, absentWords, noContent, WHY } from '../answer-text.ts';
import {
  inCategory,
  type Item,
  itemLine,
  itemSchema,
  LISTED_KINDS,
  originTelling,
  recordItem,
} from './list-items.ts';
import { workspaceFrom } from './read.ts';
import { present } from '../../base/values.ts';
import { pluralType } from '../unified/forms.ts';
import { defineOperation } from '../operation.ts';
import { KINDS_OF, READABLE, settled } from './names.ts';

const SEARCHABLE = [...(Object.keys(LISTED_KINDS) as (keyof typeof LISTED_KINDS)[]), 'all' as const];

/** What is started like a workflow is found among them. */
function kindsOf(type: (typeof SEARCHABLE)[number]): readonly RecordKind[] {
  if (type === 'all') return READABLE;
  return type === 'workflows' ? KINDS_OF.workflow : [LISTED_KINDS[type]];
}

const DEFAULT_HITS = 8;
const RESERVED = 600;
/** Where nothing fits: the words were wrong, or it has another name. */
const OTHERWISE = {
  note: 'Try other words.',
  step: { operation: 'list', args: { what: 'workflows' }, why: 'List the workflows' },
};

export const search = defineOperation({
  name: 'search',
  title: 'Find agents and workflows',
  description:
    'Find agents, workflows and what they use by name or by what you want to do, in English or French, best first.',
  effect: 'read',
  behind: { bmad: 'search' },
  fromForm: ({ type, ...form }) => ({
    args: present({ ...form, type: type === undefined ? undefined : pluralType(type) }),
  }),
  command: 'search',
  positional: ['query'],
  sentence: true,
  examples: [
    'search "break my product down into stories"',
    'search "relire mon architecture" --type agents',
    'search research --module core',
  ],
  input: z.strictObject({
    query: z.string().trim().min(1).max(200_000).describe('A name, words, or what you want to do'),
    type: z.enum(SEARCHABLE).default('all').describe(SEARCHABLE.join(', ')),
    module: moduleField,
    category: textUpTo(100).optional().describe('Phase, such as plan or ship'),
    origin: originField,
    ...pageFields,
  }),
  output: z.object({
    query: z.string(),
    origin: z.string().optional(),
    detail: detailField,
    total: z.int(),
    items: z.array(itemSchema.extend({ score: z.number(), why: z.string() })),
    next: z.string().optional(),
    weak: z.boolean().optional().describe('All matches are weak'),
    inProject: z.boolean().describe('Whether there is a project, whose next step "next" tells'),
    aside: z.string().optional().describe("Where those come from that are not in the project's version"),
    absent: z.array(z.string()).optional().describe('Git sources not fetched yet'),
    nothing: z.string().optional().describe('That there is no content at all, and why'),
  }),

  async run({ query, type, module, category, origin, cursor, limit, detail }, context, call) {
    const workspace = workspaceFrom(await (await context.workspace()).everything(), origin);
    const kinds = kindsOf(type);
    const takes = recordFilter({ kinds, module, category }, workspace);
    const { signal } = call;
    const found = await (await workspace.search()).find({ words: query, kinds, takes, signal });
    const shown = { size: limit ?? DEFAULT_HITS, isFirst: cursor === undefined };
    const hits = await settled(query, found, shown, workspace, context, call);
    // Of thousands of hits only those of a page become items.
    const telling = originTelling(
      hits.map(({ record }) => ({ origin: record.origin.displayName })),
      workspace,
    );
    const { aside } = workspace.catalogue;
    const itemOf = ({ record, score, why }: (typeof hits)[number]) => ({
      ...telling(recordItem(record, workspace)),
      ...(record.origin === aside ? { elsewhere: true } : {}),
      score: Math.round(score * 100) / 100,
      why: why(),
    });
    const identity = JSON.stringify(['search', query, type, module, category, origin, hits.length]);
    const page = fittingPage(hits, {
      size: limit ?? DEFAULT_HITS,
      maxBytes: answerRoom(context.config.answerBytes, RESERVED),
      identity,
      cursor,
      render: (hit) => hitLine(itemOf(hit), detail),
    });
    const { next, total } = page;
    const part = page.part.map(itemOf);
    return {
      query: query.slice(0, 200),
      ...present({ origin }),
      detail,
      total,
      items: part,
      inProject: workspace.project.root !== undefined,
      ...present({
        next,
        weak: hits[0]?.weak === true || undefined,
        aside: page.part.some(({ record }) => record.origin === aside) ? aside?.displayName : undefined,
        nothing: noContent(workspace, context.config.discovery),
      }),
      ...(workspace.absent.length === 0 ? {} : { absent: [...workspace.absent] }),
    };
  },

  render({ query, origin, detail, total, items, next, weak, inProject, aside, absent, nothing }) {
    // What comes next depends on how far along the project is; no text that is found by words can say it.
    const onward = inProject ? [NEXT] : [];
    const [best] = items;
    const missing = absentWords(absent);
    if (best === undefined) {
      const body = t`Nothing matches ${JSON.stringify(query)}.`;
      // No other words find anything where there is nothing.
      if (nothing !== undefined && missing.note === undefined) return { body, note: nothing, steps: [WHY] };
      return {
        body,
        note: [say(OTHERWISE.note), missing.note].filter(Boolean).join(' '),
        steps: [OTHERWISE.step, ...onward, ...missing.steps],
      };
    }
    const body = items.map((item) => hitLine(item, detail)).join('\n');
    return {
      body,
      note: `${sized(t`${items.length} of ${total} matches, best first`, body, detail)}.${aside === undefined ? '' : t` What is marked ${aside} is not in the BMAD of this project.`}`,
      again: nextPart(next),
      steps: [weak === true ? OTHERWISE.step : useOf(best, origin), ...onward],
    };
  },
});

const NEXT: Step = { operation: 'next', why: 'See what comes next in this project' };

/** How to use the first hit: what can be started is, anything else is read. */
function useOf({ kind, name, uri }: Item, origin: string | undefined): Step {
  const from = origin === undefined ? {} : { origin };
  return STARTABLE.some((each) => each === kind)
    ? {
        operation: 'execute',
        args: { name, kind: kind === 'agent' ? 'agent' : 'workflow', ...from },
        why: t`Start the first`,
      }
    : { operation: 'read', args: { target: uri ?? name, kind: 'resource', ...from }, why: t`Read the first` };
}

function hitLine(item: Item & { why: string }, detail: Detail): string {
  return detail === 'full' ? `${itemLine(item, detail)} [${item.why}]` : itemLine(item, detail);
}

interface SearchFilters {
  kinds: readonly RecordKind[];
  module: string | undefined;
  category: string | undefined;
}

/** Whether a record passes all filters; a value that nothing here has is an error that names those there are. */
function recordFilter(
  { kinds, module, category }: SearchFilters,
  workspace: Workspace,
): (record: BmadRecord) => boolean {
  const { catalogue } = workspace;
  const code = module === undefined ? undefined : catalogue.names.moduleCode(module);
  const ofKind = (): BmadRecord[] => catalogue.winners.filter(({ kind }) => kinds.includes(kind));
  const phase = category === undefined ? undefined : new Set(ofPhase(ofKind(), category, workspace));
  return (record) =>
    (code === undefined || record.moduleName === code) && (phase === undefined || phase.has(record));
}

/** Old names are a category of their own, as in lists. */
function ofPhase(
  records: readonly BmadRecord[],
  category: string,
  workspace: Workspace,
): readonly BmadRecord[] {
  return fold(category) === 'deprecated'
    ? records.filter(({ deprecated }) => deprecated !== undefined)
    : inCategory(records, category, workspace);
}
