import { plural, say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import type { Step } from '../../base/step.ts';
import { oneLine } from '../../base/text/text.ts';
import { lines } from '../answer-text.ts';
import { deferredSchema } from '../fields.ts';
import { deferredLines } from './discovery.ts';
/** What is known of a project, as data. Parts that were not asked for are missing. */

export const SECTIONS = ['all', 'stack', 'agents', 'decisions', 'architecture'] as const;
export type ContextSectionName = (typeof SECTIONS)[number];

const anyTable = z.record(z.string(), z.unknown());
const maybe = z.string().optional();
const request = z.object({
  id: z.string(),
  from: z.string(),
  to: maybe,
  text: z.string(),
  done: z.boolean(),
  line: z.int(),
});

const toldSchema = z.object({ title: z.string(), line: z.int(), text: z.string() });
const document = z.object({ kind: z.string(), path: z.string(), state: z.string() });

export const contextSchema = z.object({
  section: z.enum(SECTIONS),
  root: z.string(),
  layout: z.enum(['bmad', 'grimoire', 'none']),
  project: z.object({
    name: z.string(),
    description: maybe,
    type: maybe,
    stack: z.array(z.string()),
    repos: z.array(anyTable),
  }),
  user: z.object({ name: maybe, language: maybe, document_language: maybe, skill_level: maybe }),
  kit_version: maybe,
  stack: z
    .object({
      declared: z.array(z.string()),
      told: z.string(),
      rows: z.array(z.record(z.string(), z.string())),
      detected: z.array(z.object({ name: z.string(), because: z.string(), inKit: z.boolean() })),
      /** kubernetes, monitoring, cicd and security of project-context.yaml. */
      settings: anyTable,
    })
    .optional(),
  agents: z
    .object({
      archetype: maybe,
      archetypes: z.array(z.object({ id: z.string(), installed: maybe })),
      team: z.array(
        z.object({
          id: z.string(),
          name: maybe,
          tag: maybe,
          icon: maybe,
          domain: maybe,
          note: maybe,
          known: z.array(z.string()),
        }),
      ),
      bmad: z.array(z.string()),
      requests: z.array(request),
      handoffs: z.array(request.extend({ date: z.string() })),
    })
    .optional(),
  decisions: z
    .array(
      z.object({
        date: maybe,
        agent: maybe,
        text: z.string(),
        architecture: z.boolean(),
        id: maybe,
        sources: z.array(z.string()),
      }),
    )
    .optional(),
  /** What the shared context says of them. */
  decided: z.array(toldSchema).optional(),
  architecture: z
    .object({
      sections: z.array(toldSchema),
      infrastructure: z.unknown().optional(),
      files: z.array(z.string()),
      /** Those that BMAD's workflows wrote. */
      documents: z.array(document),
    })
    .optional(),
  /** Stories of the ledger, of files and of the plan. */
  stories: z
    .object({
      total: z.int(),
      done: z.int(),
      /** The receipt of a contract PASS since which nothing has changed. */
      proven_by: maybe,
      list: z.array(
        z.object({ id: z.string(), status: z.string(), done: z.boolean(), place: maybe, gate: maybe }),
      ),
    })
    .optional(),
  /** What BMAD's build workflow has put off, counted, and the file it is in. */
  deferred: deferredSchema.optional(),
  /** What BMAD's workflows have written, and how far each is. */
  documents: z.array(document),
  /** Sections of the shared context that belong nowhere else: conventions, environment, … */
  other: z.array(toldSchema).optional(),
  session: z
    .object({
      agent: maybe,
      date: maybe,
      duration: maybe,
      work: z.array(z.string()),
      files: z.array(z.string()),
      state: maybe,
      next: maybe,
      requests: z.array(z.string()),
    })
    .optional(),
  memory: anyTable.optional(),
  bmad: anyTable.optional(),
  warnings: z.array(z.string()),
});
export type ContextData = z.input<typeof contextSchema>;

type Data = z.output<typeof contextSchema>;

const BRIEF_DECISIONS = 8;
const SHOWN_DECISIONS = 30;

/** The way to the decisions that are not shown. */
export function moreDecisions({ section, decisions = [] }: Data): Step[] {
  if (decisions.length <= (section === 'all' ? BRIEF_DECISIONS : SHOWN_DECISIONS)) return [];
  return section === 'all'
    ? [{ operation: 'get_project_context', args: { section: 'decisions' }, why: t`See more decisions` }]
    : [
        {
          operation: 'recall_structured',
          args: { type: 'decisions' },
          open: ['query'],
          why: t`Find other decisions`,
        },
      ];
}

/** All parts of the answer. */
export function contextText(
  data: Data,
  brief: boolean,
  most = brief ? BRIEF_DECISIONS : SHOWN_DECISIONS,
): string {
  const all = data.section === 'all';
  const body = [
    aboutPart(data),
    data.stack === undefined ? '' : stackPart(data.stack),
    data.agents === undefined ? '' : agentsPart(data.agents, brief),
    data.decisions === undefined ? '' : decisionsPart(data.decisions, most, data.decided),
    data.architecture === undefined ? '' : architecturePart(data.architecture, brief, all),
    all ? documentsPart(data.documents, brief) : '',
    data.stories === undefined ? '' : storiesPart(data.stories, brief),
    deferredLines(data.deferred).join('\n'),
    all ? otherPart(data, brief) : '',
    data.session === undefined ? '' : sessionPart(data.session),
    data.bmad === undefined ? '' : bmadPart(data.bmad, data),
  ];
  return body.filter((part) => part !== '').join('\n\n');
}

function aboutPart({ project, user, layout, root, documents, kit_version: version }: Data): string {
  const bare = documents.length === 0 ? t` (no BMAD files of its own)` : t` (BMAD is not installed in it)`;
  const person = [user.name, user.language, user.skill_level].filter(Boolean).join(', ');
  return lines(
    `# ${project.name}`,
    project.description,
    project.type === undefined ? undefined : t`Type: ${project.type}`,
    t`Folder: ${root}${layout === 'none' ? bare : ''}${version === undefined ? '' : t`, kit ${version}`}`,
    person === '' ? undefined : t`User: ${person}`,
    project.repos.length < 2
      ? undefined
      : t`Repositories: ${project.repos.map(({ name, path }) => `${String(name)} (${String(path)})`).join(', ')}`,
  );
}

function stackPart({ declared, told, detected, settings }: NonNullable<Data['stack']>): string {
  return lines(
    t`## Stack`,
    detected.length === 0
      ? t`Detected: none`
      : t`Detected: ${detected.map(({ name, because }) => `${name} (${because})`).join(', ')}`,
    declared.length === 0 ? undefined : t`Declared: ${declared.join(', ')}`,
    told,
    Object.entries(settings).map(([name, value]) => t`${name}: ${JSON.stringify(value)}`),
  );
}

const TEAM_SHOWN = 12;

function agentsPart(
  { archetype, archetypes, team, bmad, requests, handoffs }: NonNullable<Data['agents']>,
  brief: boolean,
): string {
  const isHere = ({ known }: (typeof team)[number]): boolean =>
    known.includes('file') || known.includes('content');
  // What a template names for the case that it is needed is nobody as long as it is not installed.
  const spare = team.filter((agent) => agent.note !== undefined && !isHere(agent));
  const there = team.filter((agent) => !spare.includes(agent));
  const shown = brief ? there.slice(0, TEAM_SHOWN) : there;
  const open = [...requests, ...handoffs].filter(({ done }) => !done);
  const done = requests.length + handoffs.length - open.length;
  const kinds = [archetype, ...archetypes.map(({ id }) => id)].filter((each) => each !== undefined);
  return lines(
    t`## Agents`,
    kinds.length === 0 ? undefined : t`Archetypes: ${kinds.join(', ')}`,
    shown.map((agent) => {
      const { id, name, tag, icon, domain } = agent;
      const called = [name, tag === name?.toLowerCase() ? undefined : tag]
        .filter((each) => each !== undefined && each !== id)
        .join(', ');
      return `- ${[icon, id].filter(Boolean).join(' ')}${called === '' ? '' : ` (${called})`}${domain === undefined ? '' : t`: ${domain}`}${isHere(agent) ? '' : t` [not installed]`}`;
    }),
    there.length > shown.length ? t`… ${there.length - shown.length} more: section "agents".` : undefined,
    spare.length === 0
      ? undefined
      : t`Not installed: ${spare.map(({ id, note }) => `${id} (${note ?? ''})`).join(', ')}`,
    bmad.length === 0 ? undefined : t`BMAD agents: ${bmad.join(', ')}`,
    team.length + bmad.length === 0 ? t`None installed; the built-in BMAD agents are available.` : undefined,
    open.length === 0 ? undefined : t`\n### Open requests and handoffs`,
    open.map(
      ({ id, from, to, text }) =>
        t`- ${id}: ${from} → ${to ?? t`no one yet`}: ${oneLine(text, brief ? 160 : 400)}`,
    ),
    done === 0 ? undefined : t`${plural(done, 'more is', 'more are')} done.`,
  );
}

function decisionsPart(
  decisions: NonNullable<Data['decisions']>,
  most: number,
  decided: Data['decided'] = [],
): string {
  const shown = decisions.slice(0, most);
  return lines(
    t`## Decisions`,
    decided.map(({ text }) => text),
    shown.length + decided.length === 0 ? t`None yet.` : undefined,
    shown.map(
      ({ date, agent, text, sources, id }) =>
        `- ${[date, agent === 'team' ? undefined : agent].filter(Boolean).join(', ')}${date === undefined && agent === 'team' ? '' : ': '}${oneLine(text, 300)} (${sources[0] ?? `id ${id ?? ''}`})`,
    ),
    decisions.length > shown.length ? t`… ${decisions.length - shown.length} more.` : undefined,
  );
}

const DOCUMENTS_SHOWN = 12;
const SECTION_SHOWN = 600;

function architecturePart(
  { sections, infrastructure, files, documents }: NonNullable<Data['architecture']>,
  brief: boolean,
  all: boolean,
): string {
  const parts = sections.map(
    ({ title, text }) =>
      `### ${title}\n${brief && text.length > SECTION_SHOWN ? t`${oneLine(text, SECTION_SHOWN)} (more: section "architecture")` : text}`,
  );
  const other = [
    ...(infrastructure === undefined || infrastructure === null
      ? []
      : [t`Infrastructure: ${JSON.stringify(infrastructure)}`]),
    // Where all parts are shown, they are among the documents.
    ...(all ? [] : documents.map(documentLine)),
    ...(files.length === 0 ? [] : [t`See also ${files.join(', ')}`]),
  ];
  if (parts.length + other.length === 0) return brief ? '' : t`## Architecture\nNot filled in.`;
  return [t`## Architecture`, ...parts, ...other].join('\n');
}

const documentLine = ({ kind, path, state }: Data['documents'][number]): string =>
  t`- ${kind}: ${path} (${say(state)})`;

function documentsPart(documents: Data['documents'], brief: boolean): string {
  const shown = brief ? documents.slice(0, DOCUMENTS_SHOWN) : documents;
  if (shown.length === 0) return '';
  const rest = documents.length - shown.length;
  return lines(t`## Documents`, shown.map(documentLine), rest > 0 ? t`… ${rest} more.` : undefined);
}

const STORIES_SHOWN = 8;

function storiesPart(
  { total, done, list, proven_by: receipt }: NonNullable<Data['stories']>,
  brief: boolean,
): string {
  const shown = brief ? list.slice(0, STORIES_SHOWN) : list;
  const rest = total - shown.length;
  return lines(
    t`## Stories`,
    done === 0
      ? t`0 of ${total} done by ledger and files.`
      : receipt === undefined
        ? t`${done} of ${total} done by ledger and files, not proven.`
        : t`${done} of ${total} done by ledger and files, proven by contract PASS (${receipt}).`,
    shown.map(
      ({ id, status, place, gate }) =>
        t`- ${id}: ${status}${place === undefined ? '' : ` (${place})`}${gate === undefined ? '' : t`, gate ${gate}`}`,
    ),
    rest > 0 ? t`… ${rest} more.` : undefined,
  );
}

function otherPart({ other = [] }: Data, brief: boolean): string {
  return other
    .map(
      ({ title, text }) =>
        `## ${title}\n${brief && text.length > SECTION_SHOWN ? oneLine(text, SECTION_SHOWN) : text}`,
    )
    .join('\n\n');
}

function sessionPart({ agent, date, work, files, state, next }: NonNullable<Data['session']>): string {
  return lines(
    t`## Last session: ${[agent, date].filter(Boolean).join(', ')}`,
    work.length === 0 ? undefined : t`Done: ${work.join('; ')}`,
    files.length === 0 ? undefined : t`Files: ${files.join(', ')}`,
    state === undefined ? undefined : t`State: ${state}`,
    next === undefined ? undefined : t`Next: ${next}`,
  );
}

/** What it is set up with, as far as nothing above says it: modules repeat what is set for all. */
function bmadPart(
  { roots, core, modules, v4, agents }: Record<string, unknown>,
  { project, user }: Pick<Data, 'project' | 'user'>,
): string {
  const folders = (roots as { folder: string; version?: string }[]).map(
    ({ folder, version }) => `${folder}${version === undefined ? '' : ` (${version})`}`,
  );
  const said = new Set([
    `project_name ${project.name}`,
    `user_name ${user.name}`,
    `communication_language ${user.language}`,
    `user_skill_level ${user.skill_level}`,
  ]);
  const values = (name: string, table: unknown): string[] => {
    const told = Object.entries((table as object | undefined) ?? {})
      .map(([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .filter((each) => !said.has(each));
    for (const each of told) said.add(each);
    return told.length === 0 ? [] : [t`${name}: ${told.join(', ')}`];
  };
  return lines(
    t`## BMAD: ${folders.join(', ')}; ${plural(Number(agents), 'agent')}`,
    values('core', core),
    Object.entries((modules as object | undefined) ?? {}).flatMap(([code, value]) => values(code, value)),
    values('core-config', v4),
  );
}
