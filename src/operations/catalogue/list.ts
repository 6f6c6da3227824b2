import { doersIn } from './agent-names.ts';
import {
  type Item,
  asideSchema,
  besideList,
  besides,
  besideSchema,
  CATEGORY_WORDS,
  contentsOf,
  type Entries,
  entriesOf,
  type Entry,
  holdsWords,
  type ItemFilters,
  itemLine,
  itemSchema,
  LISTED_KINDS,
  originTelling,
  recordEntries,
} from './list-items.ts';
import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { contentUri } from '../../base/files/paths.ts';
import type { Step } from '../../base/step.ts';
import { present, those } from '../../base/values.ts';
import { globMatcher } from '../../base/text/glob.ts';
import { withoutHidden } from '../../base/text/hidden.ts';
import { plural, say, t } from '../../base/text/message.ts';
import { answerRoom, fittingPage } from '../../base/text/paging.ts';
import { nearest } from '../../base/text/suggest.ts';
import { detailField, moduleField, originField, pageFields, textUpTo } from '../fields.ts';
import { nextPart, sized, absentWords, noContent } from '../answer-text.ts';
import type { Workspace } from '../context.ts';
import { defineOperation, type OwnArguments, type UnifiedForm } from '../operation.ts';
import { pluralType } from '../unified/forms.ts';
import { workspaceFrom } from './read.ts';

const OTHERS = { modules: moduleItems, resources: resourceItems };

const LISTABLE = Object.keys({ ...LISTED_KINDS, ...OTHERS }) as (
  | keyof typeof LISTED_KINDS
  | keyof typeof OTHERS
)[];

/** Room kept for the note under a list. */
const RESERVED = 600;

export const list = defineOperation({
  name: 'list',
  title: 'List available content',
  description: 'List agents, workflows, tasks, plain skills, modules or resource files.',
  effect: 'read',
  behind: { bmad: 'list' },
  command: 'list',
  positional: ['what'],
  fromForm: listForm,
  examples: ['list agents', 'list workflows --category plan', 'list resources --pattern "bmm/**/*.csv"'],
  input: z.strictObject({
    what: z
      .enum(LISTABLE)
      .default('agents')
      .describe(`What to list: ${LISTABLE.join(', ')}`),
    module: moduleField,
    category: textUpTo(100).optional().describe(`${CATEGORY_WORDS}; or deprecated`),
    query: textUpTo(400).optional().describe('Only entries containing all these words'),
    pattern: textUpTo(5_000).optional().describe('Only resources whose path matches, e.g. "core/**/*.md"'),
    origin: originField,
    version: textUpTo(100).optional().describe('Only this version, e.g. "6.12.0" or "4"'),
    ...pageFields,
  }),
  output: z.object({
    what: z.enum(LISTABLE),
    detail: detailField,
    total: z.int(),
    from: z.int(),
    items: z.array(itemSchema),
    next: z.string().optional(),
    note: z.string().optional(),
    lifted: z
      .int()
      .optional()
      .describe('How many were moved to the front of their module, by use or by setting'),
    aside: asideSchema.optional().describe('Built-in content that is listed only when asked for'),
    beside: besideSchema.optional().describe('What built-in modules have that are not listed'),
    absent: z.array(z.string()).optional().describe('Git sources not fetched yet'),
  }),

  async run(
    { what, detail, query, module, category, pattern, origin, version, ...input },
    { workspace: open, config },
  ) {
    const workspace = workspaceFrom(await open(input.project), origin);
    if (pattern !== undefined && what !== 'resources') {
      throw new BmadError('invalid_input', t`"pattern" filters resources, not ${say(what)}.`, {
        hint: t`Use "query" to filter by words.`,
      });
    }
    if (category !== undefined && (what === 'resources' || what === 'modules')) {
      throw new BmadError('invalid_input', t`"category" does not filter ${say(what)}.`, {
        hint: t`Use "module" or "query".`,
      });
    }
    if (version !== undefined && what === 'resources') {
      throw new BmadError('invalid_input', t`"version" does not filter resources.`, {
        hint: t`Use "origin", "module" or "pattern".`,
      });
    }
    const code = module === undefined ? undefined : workspace.catalogue.names.moduleCode(module);
    const filters = { module: code, category, pattern, version };
    const found =
      what === 'modules' || what === 'resources'
        ? await OTHERS[what](workspace, filters, origin !== undefined)
        : recordEntries(workspace, LISTED_KINDS[what], filters);
    const held =
      query === undefined ? found.entries : found.entries.filter(({ item }) => holdsWords(item(), query));
    const note = noContent(workspace, config.discovery) ?? found.note;
    const { entries, lifted } = await rankedEntries(held, workspace);
    const telling = originTelling(what === 'resources' ? [] : held, workspace);
    const doers = what === 'workflows' && detail === 'full' ? await doersIn(workspace) : undefined;
    const shown = ({ item, record }: Entry): Item => {
      const agents = record === undefined ? [] : (doers?.(record) ?? []);
      return agents.length === 0 ? telling(item()) : { ...telling(item()), agents };
    };
    const identity = JSON.stringify([
      what,
      code,
      category,
      query,
      pattern,
      origin,
      version,
      entries.length,
      ...lifted,
    ]);
    const { part, next, ...page } = fittingPage(entries, {
      size: input.limit ?? config.pageSize,
      maxBytes: answerRoom(config.answerBytes, RESERVED),
      identity,
      cursor: input.cursor,
      render: (entry) => itemLine(shown(entry), detail),
    });
    const isNarrow = [module, category, query, pattern, origin, version].some((each) => each !== undefined);
    const beside = isNarrow || what === 'resources' ? [] : await besideList(what, workspace);
    return {
      what,
      detail,
      total: page.total,
      from: page.from,
      items: part.map(shown),
      ...present({ next, note, lifted: lifted.length || undefined, aside: found.aside }),
      ...(beside.length === 0 ? {} : { beside }),
      ...(workspace.absent.length === 0 ? {} : { absent: [...workspace.absent] }),
    };
  },

  render({ what, detail, total, from, items, next, note, lifted, aside, beside = [], absent }) {
    const body =
      items.length === 0
        ? t`No ${say(what)}.`
        : items.map((item) => itemLine(item, detail)).join(detail === 'brief' ? ', ' : '\n');
    const complete = next === undefined && from === 0;
    const shown = complete
      ? plural(total, what.replace(/s$/, ''), what)
      : t`${say(what)} ${from + 1} to ${from + items.length} of ${total}`;
    const missing = absentWords(absent);
    const isLifted = lifted !== undefined && lifted > 0;
    return {
      body,
      note: [
        `${sized(shown, body, detail)}.`,
        isLifted ? t`What you use or boost comes first in its module.` : undefined,
        note,
        aside === undefined ? undefined : t`${aside.from} has ${aside.count} more, of another version.`,
        besideNote(what, beside),
        missing.note,
      ]
        .filter(Boolean)
        .join(' '),
      again: nextPart(next),
      steps: those<Step>(
        isLifted && { operation: 'usage_show', why: t`See what you use` },
        aside !== undefined && {
          operation: 'list',
          args: { what, origin: 'package' },
          why: t`List what is built in`,
        },
        beside.length > 0 &&
          what !== 'modules' && {
            operation: 'list',
            args: { what },
            open: ['module'],
            why: t`List those of a module`,
          },
        missing.steps,
      ),
    };
  },
});

function besideNote(what: string, beside: z.output<typeof besideSchema>): string | undefined {
  const each = beside.map(({ module, name, count }) =>
    what === 'modules' ? `${module} (${name})` : t`${count} in ${module} (${name})`,
  );
  return each.length === 0 ? undefined : t`Also, by module: ${each.join(', ')}.`;
}

/** The tool `bmad` says what to list with `query` or `type`; with both, `query` holds words. */
function listForm({ query, type, ...rest }: UnifiedForm): OwnArguments {
  const spoken = { what: type === undefined ? 'query' : 'type' };
  const named = type ?? query;
  if (named === undefined) return { args: present(rest), spoken };
  const what = pluralType(named);
  if (!(LISTABLE as string[]).includes(what))
    throw new BmadError('invalid_input', t`bmad: ${quoted(named)} cannot be listed.`, {
      suggestions: nearest(what, LISTABLE),
      hint: t`Lists: ${LISTABLE.join(', ')}.`,
      steps: [{ operation: 'search', args: { query: named }, why: t`Find something by words` }],
    });
  const words = type === undefined || query === undefined || pluralType(query) === what ? undefined : query;
  return { args: present({ ...rest, what, query: words }), spoken };
}

// What is listed and is no record: modules and files.

function moduleItems({ catalogue }: Workspace, { module, version: wanted }: ItemFilters): Entries {
  const modules = catalogue.modules.filter(
    ({ code, version, origin }) =>
      (origin !== catalogue.aside || module !== undefined || wanted !== undefined) &&
      (module === undefined || code === module) &&
      (wanted === undefined || version?.startsWith(wanted) === true),
  );
  return {
    entries: entriesOf(
      modules.map(({ code, name, description, version, origin }) => ({
        name: code,
        kind: 'module',
        title: version === undefined ? name : `${name} ${version}`,
        description: [description, contentsOf(code, Object.values(LISTED_KINDS), catalogue)]
          .filter(Boolean)
          .join('; '),
        origin: origin.displayName,
      })),
    ),
  };
}

async function resourceItems(
  { delivery, catalogue }: Workspace,
  { module, pattern }: ItemFilters,
  ofOrigin: boolean,
): Promise<Entries> {
  const matches = pattern === undefined ? () => true : globMatcher(pattern.replace(/^bmad:\/\//, ''));
  // What the server makes itself is of no origin.
  const all = ofOrigin
    ? [...(await catalogue.files.all())].map(([path, { displayName }]) => ({
        path,
        mimeType: delivery.mimeTypeOf(path),
        origin: displayName,
      }))
    : [...(await delivery.paths()).values()];
  const everywhere = all.filter(
    ({ path }) => matches(path) && (module === undefined || path.startsWith(`${module}/`)),
  );
  const { aside } = catalogue;
  const isNamed = module !== undefined || pattern !== undefined;
  const meant =
    isNamed && everywhere.every(({ origin }) => origin === aside?.displayName) ? undefined : aside;
  const paths = everywhere.filter(({ origin }) => origin !== meant?.displayName);
  return {
    ...besides(everywhere.length - paths.length, meant),
    entries: paths.map(({ path, mimeType, origin }) => ({
      origin,
      item: () => ({
        name: withoutHidden(path),
        kind: 'resource',
        description: mimeType,
        uri: contentUri(path),
        origin,
      }),
    })),
  };
}

/**
 * A list in its usual order, module after module, but with what was started or is boosted first in its module; `lifted` has
 * their names. Lists of the protocol, which hosts keep, do not come through here. Thousands are joined, not copied singly.
 */
async function rankedEntries(entries: readonly Entry[], workspace: Workspace) {
  const ranking = await workspace.ranking();
  if (ranking.isPlain) return { entries, lifted: [] };
  const groups = ranking.lifted(
    entries,
    ({ record }) => record,
    ({ module, origin }) => `${module} ${origin}`,
  );
  return {
    entries: ([] as readonly Entry[]).concat(...groups.flatMap(({ out, rest }) => [out, rest])),
    lifted: groups.flatMap(({ out }) => out.map(({ item }) => item().name)),
  };
}
