import * as z from 'zod';
import { fitItems, listPage } from '../base/paging.ts';
import { STARTABLE, type RecordKind } from '../model/record.ts';
import { cursorField, detailField, limitField, moduleField, projectField } from './fields.ts';
import { itemLine, itemSchema, recordItem } from './list-items.ts';
import { defineOperation } from './operation.ts';
import { settled } from './recommend.ts';
import { absentNote } from './targets.ts';
import { KINDS_OF } from './targets.ts';

const SEARCHABLE = ['agents', 'workflows', 'all'] as const;
const KINDS: Record<(typeof SEARCHABLE)[number], readonly RecordKind[]> = {
  agents: KINDS_OF.agent,
  workflows: KINDS_OF.workflow,
  all: STARTABLE,
};

const DEFAULT_HITS = 8;
const RESERVED = 600;

export const search = defineOperation({
  name: 'search',
  title: 'Find agents and workflows',
  description: 'Find agents and workflows by words in their names, titles and descriptions, best first.',
  effect: 'read',
  command: 'search',
  positional: ['query'],
  examples: ['search "user experience"', 'search research --type workflows'],
  input: z.strictObject({
    query: z.string().trim().min(1).max(200_000).describe('Words to look for'),
    type: z.enum(SEARCHABLE).default('all').describe('agents, workflows or all'),
    module: moduleField,
    cursor: cursorField,
    limit: limitField,
    detail: detailField,
    project: projectField,
  }),
  output: z.object({
    query: z.string(),
    detail: detailField,
    total: z.int(),
    items: z.array(itemSchema.extend({ score: z.number() })),
    next: z.string().optional(),
    absent: z.array(z.string()).optional().describe('Git sources that are not here yet'),
  }),

  async run({ query, type, module, cursor, limit, detail, project }, context, call) {
    const workspace = await context.workspace(project);
    const code = module === undefined ? undefined : workspace.catalogue.names.moduleCode(module);
    const found = (await workspace.search()).find({ words: query, kinds: KINDS[type], module: code });
    const shown = { size: limit ?? DEFAULT_HITS, isFirst: cursor === undefined };
    const hits = await settled(query, found, shown, workspace, context, call);
    const items = hits.map(({ record, score }) => ({ ...recordItem(record, workspace), score }));
    const identity = JSON.stringify(['search', query, type, code, items.length]);
    const page = listPage(items, limit ?? DEFAULT_HITS, identity, cursor);
    const fitting = fitItems(page.part, context.config.answerBytes - RESERVED, (item) =>
      itemLine(item, detail),
    );
    const next =
      fitting.length < page.part.length ? listPage(items, fitting.length, identity, cursor).next : page.next;
    return {
      query: query.slice(0, 200),
      detail,
      total: page.total,
      items: fitting,
      ...(next === undefined ? {} : { next }),
      ...(workspace.absent.length === 0 ? {} : { absent: [...workspace.absent] }),
    };
  },

  render({ query, detail, total, items, next, absent }) {
    const [best] = items;
    if (best === undefined)
      return {
        body: `Nothing matches ${JSON.stringify(query)}.`,
        note: ['Try other words, or {operation:"list", query:"workflows"}.', absentNote(absent)]
          .filter(Boolean)
          .join(' '),
      };
    const argument = best.kind === 'agent' ? 'agent' : 'workflow';
    const more = next === undefined ? '' : ` More: cursor "${next}".`;
    return {
      body: items.map((item) => itemLine(item, detail)).join('\n'),
      note: `${items.length} of ${total} matches, best first. Start the first with {operation:"execute", ${argument}:"${best.name}"}.${more}`,
    };
  },
});
