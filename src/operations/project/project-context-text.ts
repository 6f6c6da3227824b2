import type * as z from 'zod';
import type { Step } from '../../base/step.ts';
import { oneLine, plural } from '../../base/text/text.ts';
import { lines } from '../answer-text.ts';
import { deferredLines } from './discovery.ts';
import type { contextSchema } from './project-context-schema.ts';

type Data = z.output<typeof contextSchema>;

const BRIEF_DECISIONS = 8;
const SHOWN_DECISIONS = 30;

/** The way to the decisions that are not shown. */
export function moreDecisions({ section, decisions = [] }: Data): Step[] {
  if (decisions.length <= (section === 'all' ? BRIEF_DECISIONS : SHOWN_DECISIONS)) return [];
  return section === 'all'
    ? [{ operation: 'get_project_context', args: { section: 'decisions' }, why: 'See more decisions' }]
    : [
        {
          operation: 'recall_structured',
          args: { type: 'decisions' },
          open: ['query'],
          why: 'Find other decisions',
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
    data.decisions === undefined ? '' : decisionsPart(data.decisions, most),
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
  const bare = documents.length === 0 ? ' (no BMAD files of its own)' : ' (BMAD is not installed in it)';
  const person = [user.name, user.language, user.skill_level].filter(Boolean).join(', ');
  return lines(
    `# ${project.name}`,
    project.description,
    project.type === undefined ? undefined : `Type: ${project.type}`,
    `Folder: ${root}${layout === 'none' ? bare : ''}${version === undefined ? '' : `, kit ${version}`}`,
    person === '' ? undefined : `User: ${person}`,
    project.repos.length < 2
      ? undefined
      : `Repositories: ${project.repos.map(({ name, path }) => `${String(name)} (${String(path)})`).join(', ')}`,
  );
}

function stackPart({ declared, told, detected, settings }: NonNullable<Data['stack']>): string {
  return lines(
    '## Stack',
    detected.length === 0
      ? 'Detected: none'
      : `Detected: ${detected.map(({ name, because }) => `${name} (${because})`).join(', ')}`,
    declared.length === 0 ? undefined : `Declared: ${declared.join(', ')}`,
    told,
    Object.entries(settings).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
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
    '## Agents',
    kinds.length === 0 ? undefined : `Archetypes: ${kinds.join(', ')}`,
    shown.map((agent) => {
      const { id, name, tag, icon, domain } = agent;
      const called = [name, tag === name?.toLowerCase() ? undefined : tag]
        .filter((each) => each !== undefined && each !== id)
        .join(', ');
      return `- ${[icon, id].filter(Boolean).join(' ')}${called === '' ? '' : ` (${called})`}${domain === undefined ? '' : `: ${domain}`}${isHere(agent) ? '' : ' [not installed]'}`;
    }),
    there.length > shown.length ? `… ${there.length - shown.length} more: section "agents".` : undefined,
    spare.length === 0
      ? undefined
      : `Not installed: ${spare.map(({ id, note }) => `${id} (${note ?? ''})`).join(', ')}`,
    bmad.length === 0 ? undefined : `BMAD agents: ${bmad.join(', ')}`,
    team.length + bmad.length === 0 ? 'None installed; the built-in BMAD agents are available.' : undefined,
    open.length === 0 ? undefined : `\n### Open requests and handoffs`,
    open.map(
      ({ id, from, to, text }) =>
        `- ${id}: ${from} → ${to ?? 'no one yet'}: ${oneLine(text, brief ? 160 : 400)}`,
    ),
    done === 0 ? undefined : `${plural(done, 'more is', 'more are')} done.`,
  );
}

function decisionsPart(decisions: NonNullable<Data['decisions']>, most: number): string {
  const shown = decisions.slice(0, most);
  return lines(
    '## Decisions',
    shown.length === 0 ? 'None yet.' : undefined,
    shown.map(
      ({ date, agent, text, sources, id }) =>
        `- ${[date, agent === 'team' ? undefined : agent].filter(Boolean).join(', ')}${date === undefined && agent === 'team' ? '' : ': '}${oneLine(text, 300)} (${sources[0] ?? `id ${id ?? ''}`})`,
    ),
    decisions.length > shown.length ? `… ${decisions.length - shown.length} more.` : undefined,
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
      `### ${title}\n${brief && text.length > SECTION_SHOWN ? `${oneLine(text, SECTION_SHOWN)} (more: section "architecture")` : text}`,
  );
  const other = [
    ...(infrastructure === undefined || infrastructure === null
      ? []
      : [`Infrastructure: ${JSON.stringify(infrastructure)}`]),
    // Where all parts are shown, they are among the documents.
    ...(all ? [] : documents.map(documentLine)),
    ...(files.length === 0 ? [] : [`See also ${files.join(', ')}`]),
  ];
  if (parts.length + other.length === 0) return brief ? '' : '## Architecture\nNot filled in.';
  return ['## Architecture', ...parts, ...other].join('\n');
}

const documentLine = ({ kind, path, state }: Data['documents'][number]): string =>
  `- ${kind}: ${path} (${state})`;

function documentsPart(documents: Data['documents'], brief: boolean): string {
  const shown = brief ? documents.slice(0, DOCUMENTS_SHOWN) : documents;
  if (shown.length === 0) return '';
  const rest = documents.length - shown.length;
  return lines('## Documents', shown.map(documentLine), rest > 0 ? `… ${rest} more.` : undefined);
}

const STORIES_SHOWN = 8;

function storiesPart(
  { total, done, list, proven_by: receipt }: NonNullable<Data['stories']>,
  brief: boolean,
): string {
  const shown = brief ? list.slice(0, STORIES_SHOWN) : list;
  const rest = total - shown.length;
  return lines(
    '## Stories',
    done === 0
      ? `0 of ${total} done by ledger and files.`
      : receipt === undefined
        ? `${done} of ${total} done by ledger and files, not proven.`
        : `${done} of ${total} done by ledger and files, proven by contract PASS (${receipt}).`,
    shown.map(
      ({ id, status, place, gate }) =>
        `- ${id}: ${status}${place === undefined ? '' : ` (${place})`}${gate === undefined ? '' : `, gate ${gate}`}`,
    ),
    rest > 0 ? `… ${rest} more.` : undefined,
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
    `## Last session: ${[agent, date].filter(Boolean).join(', ')}`,
    work.length === 0 ? undefined : `Done: ${work.join('; ')}`,
    files.length === 0 ? undefined : `Files: ${files.join(', ')}`,
    state === undefined ? undefined : `State: ${state}`,
    next === undefined ? undefined : `Next: ${next}`,
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
    return told.length === 0 ? [] : [`${name}: ${told.join(', ')}`];
  };
  return lines(
    `## BMAD: ${folders.join(', ')}; ${plural(Number(agents), 'agent')}`,
    values('core', core),
    Object.entries((modules as object | undefined) ?? {}).flatMap(([code, value]) => values(code, value)),
    values('core-config', v4),
  );
}
