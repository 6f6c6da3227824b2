import { ours } from '../../base/errors.ts';
import { present } from '../../base/values.ts';
import { localDay, oneLine } from '../../base/text/text.ts';
import { shortName } from '../../model/record.ts';
import type { Call, CataloguePort, Context, MemoryPort, ProjectFacts, ProjectState } from '../context.ts';
import { doneOf } from './next-text.ts';
import type { ContextData, ContextSectionName } from './project-context-text.ts';

const BUILT = new Set(['architecture', 'api', 'database', 'infrastructure', 'vigilance']);

export async function contextData(
  section: ContextSectionName,
  context: Context,
  call: Call,
): Promise<ContextData> {
  const state = await context.state();
  const facts = await state.facts();
  const known = await facts.context();
  const progress = await state.progress();
  const { totals, stories, deferred } = await progress.work();
  // A ledger is never complete: it has stories, and so many of them are done.
  const documents = (await progress.inventory()).map(({ kind, path, state: far }) => ({
    kind,
    path,
    state: kind === 'sprint' ? doneOf(totals.done, totals.stories) : far,
  }));
  const warnings = [...known.warnings];
  const wants = (name: ContextSectionName): boolean => section === 'all' || section === name;
  const bmad = await attempt(warnings, () => bmadConfigOf(facts, context));
  const parts = known.sections.map((each) => ({ ...each, text: facts.shown(each.text) }));
  const shown = (
    isWanted: (topic: string | undefined) => boolean,
  ): { title: string; line: number; text: string }[] =>
    parts
      .filter(({ topic, text: told }) => told !== '' && isWanted(topic))
      .map(({ title, line, text: told }) => ({ title, line, text: told }));
  const settings = await attempt(warnings, async () =>
    (await context.workspace()).delivery.projectSettings(),
  );
  const about = facts.about(known, settings ?? []);
  // Agents in folders of their own have a file that only the content knows of.
  const served = new Set(bmad?.agents.map((name) => name.slice(name.lastIndexOf('/') + 1)));
  const decisions =
    wants('decisions') || wants('architecture') ? await decisionsOf(facts, context, warnings) : [];
  return {
    section,
    root: state.root,
    layout:
      (known.kit.memory === undefined || known.kit.keptWith === 'output') && bmad === undefined
        ? 'none'
        : known.kit.family,
    project: about.project,
    user: about.user,
    kit_version: about.kit_version,
    documents,
    ...(wants('stack')
      ? {
          stack: {
            declared: about.project.stack,
            told:
              shown((topic) => topic === 'stack' || topic === 'infrastructure')
                .map((each) => each.text)
                .join('\n\n') || stackLine(parts),
            rows: parts.filter(({ topic }) => topic === 'stack').flatMap(({ rows }) => rows),
            detected: await facts.stacks(),
            settings: about.settings,
          },
        }
      : {}),
    ...(wants('agents')
      ? {
          agents: {
            archetype: about.archetype,
            archetypes: known.archetypes,
            team: known.agents.map((each) =>
              !each.known.includes('file') && served.has(shortName(each.id))
                ? { ...each, known: [...each.known, 'content'] }
                : each,
            ),
            bmad: bmad?.agents.filter((name) => !known.agents.some(({ id }) => id === name)) ?? [],
            requests: known.requests.map((each) => ({ ...each, text: facts.shown(each.text) })),
            handoffs: known.handoffs.map((each) => ({ ...each, text: facts.shown(each.text) })),
          },
        }
      : {}),
    ...(wants('decisions') ? { decisions, decided: shown((topic) => topic === 'decisions') } : {}),
    ...(wants('architecture')
      ? {
          architecture: {
            sections: shown((topic) => topic !== undefined && BUILT.has(topic)),
            infrastructure: about.infrastructure,
            files: known.notes,
            documents: documents.filter(({ kind }) => kind === 'architecture'),
          },
          ...(section === 'architecture' ? { decisions: aboutArchitecture(decisions) } : {}),
        }
      : {}),
    ...(section === 'all' && stories.length > 0
      ? { stories: { ...storiesOf(stories, totals, facts), ...(await provenBy(state, call, totals)) } }
      : {}),
    ...(section === 'all' ? present({ deferred }) : {}),
    ...(section === 'all'
      ? {
          other: shown(
            (topic) =>
              topic === undefined ||
              !(BUILT.has(topic) || ['stack', 'agents', 'requests', 'decisions'].includes(topic)),
          ),
          ...(known.session === undefined ? {} : { session: sessionData(known.session, facts) }),
          memory: about.memory,
          ...(bmad === undefined ? {} : { bmad: { ...bmad, agents: bmad.agents.length } }),
        }
      : {}),
    warnings: [...new Set(warnings)],
  };
}

type Work = Awaited<ReturnType<Awaited<ReturnType<ProjectState['progress']>>['work']>>;

/** As many as a reader takes in; the totals have all. */
const MOST_STORIES = 200;
const LONGEST_STATUS = 60;

/** Stories, those that are not done first: what is done is rarely asked about. */
function storiesOf(
  stories: Work['stories'],
  totals: Work['totals'],
  facts: ProjectFacts,
): NonNullable<ContextData['stories']> {
  const sorted = [...stories.filter(({ done }) => !done), ...stories.filter(({ done }) => done).toReversed()];
  const list = sorted.slice(0, MOST_STORIES).map((story) => ({
    ...story,
    // Any word may stand in a ledger.
    status: oneLine(facts.shown(story.status), LONGEST_STATUS),
  }));
  return { total: totals.stories, done: totals.done, list };
}

/** The receipt that proves what is done now, as "next" knows it. */
async function provenBy(state: ProjectState, call: Call, { done }: Work['totals']) {
  if (done === 0) return {};
  const { verificationOf } = await import('./verification.ts');
  const known = await verificationOf(state, call, { built: true, waiting: 0, closing: [] });
  return known?.verdict === 'PASS' && known.compared !== false ? { proven_by: known.receipt } : {};
}

type Session = NonNullable<ContextData['session']>;

function sessionData(session: Session, facts: ProjectFacts): Session {
  const shown = (value: string | undefined): string | undefined =>
    value === undefined ? undefined : facts.shown(value);
  return {
    ...session,
    work: session.work.map((each) => facts.shown(each)),
    state: shown(session.state),
    next: shown(session.next),
    requests: session.requests.map((each) => facts.shown(each)),
  };
}

/** Decisions of the memory, of the log and of the trace, which are one list there. */
async function decisionsOf(
  facts: ProjectFacts,
  context: MemoryPort,
  warnings: string[],
): Promise<NonNullable<ContextData['decisions']>> {
  const browsed = await attempt(warnings, async () => (await context.memory()).browse('decisions'));
  warnings.push(...(browsed?.notes ?? []));
  const found =
    browsed === undefined
      ? (await facts.decisions(warnings)).map(({ text: told, agent, date, source, line }) => ({
          date,
          agent,
          text: facts.shown(told),
          architecture: isArchitecture(told),
          sources: [`${source}:${line ?? 0}`],
        }))
      : browsed.entries.map(({ entry, sources, dated }) => ({
          date: dated ? localDay(new Date(entry.createdAt)) : undefined,
          agent: entry.agent,
          text: entry.text,
          architecture: isArchitecture(entry.text) || entry.tags.includes('arch'),
          id: entry.id,
          sources,
        }));
  if (browsed !== undefined) return found;
  const traced = (await facts.tracedDecisions(warnings))
    .filter(({ text: told }) => !found.some((each) => each.text.includes(told)))
    .map(({ date, agent, text: told, source, line }) => ({
      date: date.slice(0, 10),
      agent,
      text: facts.shown(told),
      architecture: isArchitecture(told),
      sources: [`${source}:${line}`],
    }));
  return [...found, ...traced.toReversed()];
}

/** Those that are marked so; all of them where nobody marks any. */
function aboutArchitecture(decisions: NonNullable<ContextData['decisions']>) {
  const marked = decisions.filter(({ architecture }) => architecture);
  return marked.length === 0 ? decisions : marked;
}

const isArchitecture = (told: string): boolean => /\[ARCH\]/i.test(told);

async function attempt<T>(warnings: string[], work: () => Promise<T>): Promise<T | undefined> {
  return work().catch(ours(({ message }) => void warnings.push(message)));
}

/** `**Stack** : …` among the bullets about the project. */
function stackLine(parts: readonly { topic: string | undefined; text: string }[]): string {
  const about = parts.find(({ topic }) => topic === 'project')?.text ?? '';
  return /^[ \t]*[-*][ \t]+\*\*Stack\*\*[ \t]*:(.*)/im.exec(about)?.[1]?.trim() ?? '';
}

type Table = Record<string, unknown>;

/** What an install of BMAD in the project is set up with, whatever version wrote it. */
interface BmadConfig {
  roots: { folder: string; version?: string }[];
  /** The files the values come from. */
  from: string[];
  core: Table;
  modules: Table;
  /** `core-config.yaml` of version 4. */
  v4?: Table;
  agents: string[];
}

/** Nothing when the project has no BMAD of its own; then only the built-in content is in force. */
async function bmadConfigOf(facts: ProjectFacts, context: CataloguePort): Promise<BmadConfig | undefined> {
  const { catalogue, delivery, project: found } = await context.workspace();
  const own = catalogue.sources.filter(({ origin }) => origin.kind === 'project');
  if (own.length === 0) return undefined;
  const { text = '' } = await delivery.file('config/current');
  const { from, core, modules: all, v4 } = facts.bmadValues(text);
  const central = from.some((file) => file.endsWith('_bmad/config.toml'));
  const mine = new Set(
    catalogue.modules.filter(({ origin }) => origin.kind === 'project').map(({ code }) => code),
  );
  // Without a central file, values of modules that are not the project's are only what the package proposes.
  const modules = Object.entries(all).filter(([code]) => central || mine.has(code));
  const top = `${found.root ?? ''}/`;
  return {
    roots: own.map(({ origin }) => ({
      folder: origin.root.startsWith(top) ? origin.root.slice(top.length) : origin.root,
      ...present({ version: origin.bmadVersion }),
    })),
    from: from.filter((file) => file !== 'the values of the modules' || modules.length > 0),
    core: central || mine.has('core') ? core : {},
    modules: Object.fromEntries(modules),
    ...(Object.keys(v4).length === 0 ? {} : { v4 }),
    agents: catalogue.winners
      .filter(({ kind, origin }) => kind === 'agent' && origin.kind === 'project')
      .map((record) => catalogue.names.handleOf(record)),
  };
}
