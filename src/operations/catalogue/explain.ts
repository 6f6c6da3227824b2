import { doersIn } from './agent-names.ts';
import { plural, type Said, say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { contentUri } from '../../base/files/paths.ts';
import type { Step } from '../../base/step.ts';
import { present } from '../../base/values.ts';
import {
  type Origin,
  originList,
  originsCalled,
  qualifiedName,
  STARTABLE,
  type BmadRecord,
} from '../../model/record.ts';
import type { Context, SettingsPort, Workspace } from '../context.ts';
import { moduleField, projectField, textUpTo } from '../fields.ts';
import { rounded } from '../answer-text.ts';
import { namedForm } from '../unified/forms.ts';
import { defineOperation } from '../operation.ts';
import {
  findFile,
  isFile,
  kindsOf,
  NAMED_KINDS,
  namedRecord,
  type NamedTarget,
  findRecord,
} from './names.ts';

const candidateSchema = z.object({
  name: z.string(),
  kind: z.string(),
  origin: z.string(),
  /** For content from git: the source and the commit. */
  git: z.object({ source: z.string(), commit: z.string() }).optional(),
  priority: z.number(),
  status: z.string(),
  path: z.string(),
  chosen: z.boolean(),
  why: z.string(),
});
type Candidate = z.output<typeof candidateSchema>;

const rankSchema = z.object({
  score: z.number(),
  signals: z.array(
    z.object({ signal: z.string(), value: z.number(), weight: z.number(), points: z.number() }),
  ),
  uses: z.int(),
  lastUsed: z.string().optional(),
  /** Why the history of starts could not be used. */
  problem: z.string().optional(),
});

export const explain = defineOperation({
  name: 'explain',
  title: 'Explain where something comes from',
  description:
    'For an agent, workflow, file or configuration key: every candidate in every origin, which one won, and why.',
  effect: 'read',
  behind: { bmad: 'explain' },
  fromForm: namedForm('explain', 'target'),
  command: 'explain',
  picks: { target: 'work' },
  positional: ['target'],
  examples: ['explain architect', 'explain bmad://bmm/config.yaml', 'explain core.user_name'],
  input: z.strictObject({
    target: textUpTo(5_000).describe('Name, bmad:// URI, path, or configuration key such as core.user_name'),
    kind: z
      .enum([...NAMED_KINDS, 'resource', 'config'])
      .optional()
      .describe('What the target is, if that is not clear from its form'),
    module: moduleField,
    project: projectField,
  }),
  output: z.object({
    target: z.string(),
    is: z.enum(['record', 'file', 'config']),
    candidates: z.array(candidateSchema),
    layers: z.array(
      z.object({
        key: z.string(),
        file: z.string(),
        line: z.int().optional(),
        value: z.string(),
        chosen: z.boolean(),
      }),
    ),
    agents: z.array(z.string()).optional().describe('Those that have it in their menu'),
    ranking: rankSchema.optional().describe('For agents and workflows: the score and its parts'),
    note: z.string(),
  }),

  async run({ target, kind, module }, context, call) {
    const workspace = await context.workspace();
    const mayBeKey = kind === 'config' || (kind === undefined && /^[a-z][\w.-]*$/i.test(target));
    const layers = mayBeKey ? await workspace.delivery.layersOfKey(target) : [];
    if (kind === 'config' || layers.length > 0) return explainKey(target, layers);
    if (
      kind === 'resource' ||
      (kind === undefined && module === undefined && (await isFile(target, workspace)))
    ) {
      return explainFile(target, workspace, context);
    }
    const lost = await listedOnly({ name: target, kind, module, fuzzy: true }, workspace);
    if (lost !== undefined) return explainRecord(lost, target, workspace);
    const explained = await explainRecord(
      await namedRecord({ name: target, kind, module, fuzzy: true }, workspace, context, {
        operation: 'explain',
        call,
      }),
      target,
      workspace,
    );
    return { ...explained, note: [explained.note, ...orderNotes(context)].join(' ') };
  },

  render({ target, is, candidates, layers, agents, ranking, note }) {
    const rows = candidates.map(
      ({ chosen, name, kind, origin, git, priority, status, path, why }) =>
        `- ${chosen ? t`**chosen** ` : ''}${t`${name} (${say(kind)}) from ${origin}, priority ${priority}, ${say(status)}: ${why}`}\n  ${path}${git === undefined ? '' : `\n  ${git.source}, commit ${git.commit}`}`,
    );
    const keys = layers.map(
      ({ chosen, key, file, line, value }) =>
        `- ${chosen ? t`**in force** ` : ''}${key} = ${value} — ${file}${line === undefined ? '' : `:${line}`}`,
    );
    const parts = [
      `${say(is)} ${quoted(target)}`,
      ...rows,
      ...(agents === undefined ? [] : [t`In the menu of ${agents.join(', ')}.`]),
      ...(keys.length > 0 ? [t`Values and where they are set:`, ...keys] : []),
      ...(ranking === undefined ? [] : rankLines(ranking)),
    ];
    return { body: parts.join('\n'), note, steps: otherStarts(candidates) };
  },
});

/** How to start what is not served: with its origin. */
function otherStarts(candidates: readonly Candidate[]): Step[] {
  const other = candidates.find(
    ({ chosen, kind, status }) =>
      !chosen && status !== 'no-file-found' && STARTABLE.some((each) => each === kind),
  );
  if (other === undefined) return [];
  const { name, origin } = other;
  const kind = other.kind === 'agent' ? 'agent' : 'workflow';
  return [{ operation: 'execute', args: { name, kind, origin }, why: t`Start the one from ${origin}` }];
}

/** What a manifest lists and nothing has the file of; a name that something answers to is not looked for there. */
async function listedOnly(target: NamedTarget, { catalogue }: Workspace): Promise<BmadRecord | undefined> {
  const query = { ...target, kinds: kindsOf(target) };
  try {
    catalogue.names.resolve(query);
    return undefined;
  } catch (error) {
    if (!(error instanceof BmadError) || error.code !== 'not_found') return undefined;
    return catalogue.names.missing(query);
  }
}

async function explainRecord(winner: BmadRecord, target: string, workspace: Workspace) {
  const { catalogue, delivery } = workspace;
  const rivals = catalogue.rivalsOf(winner);
  const ranking = STARTABLE.includes(winner.kind) ? await rankOf(winner, workspace) : undefined;
  const agents = (await doersIn(workspace))(winner);
  return {
    target,
    is: 'record' as const,
    candidates: rivals.map((record): Candidate => ({
      name: qualifiedName(record),
      kind: record.kind,
      ...placed(record.origin),
      status: record.status,
      path: record.absolutePath,
      chosen: record === winner && record.exists,
      why: reason(record, winner, workspace),
    })),
    ...(agents.length === 0 ? {} : { agents }),
    layers: await delivery.layersOf(winner),
    ...present({ ranking }),
    note: winner.exists
      ? t`${plural(rivals.length, 'candidate')}; ${qualifiedName(winner)} from ${winner.origin.displayName} is served.`
      : t`${plural(rivals.length, 'candidate')}; ${qualifiedName(winner)} from ${winner.origin.displayName} is listed in a manifest, but its file is missing: nothing is served.`,
  };
}

const placed = ({ displayName, git, priority }: Origin) => ({
  origin: displayName,
  priority,
  ...present({ git }),
});

/** What the configuration says about origins, where it says something. */
function orderNotes({ config, configFrom }: SettingsPort): string[] {
  const said = (key: string, entries: readonly string[], from: Said): string[] =>
    entries.length === 0 ? [] : [t`${key}: ${entries.join(', ')} (${from}).`];
  return [
    ...said('origin_order', config.originOrder, configFrom.originOrder),
    ...said('prefer', config.prefer, configFrom.prefer),
  ];
}

async function rankOf(record: BmadRecord, workspace: Workspace): Promise<z.output<typeof rankSchema>> {
  const ranking = await workspace.ranking();
  const use = ranking.use(record);
  return {
    score: rounded(ranking.rank(record)),
    signals: ranking
      .signals(record)
      .map((each) => ({ ...each, value: rounded(each.value), points: rounded(each.points) })),
    uses: use?.uses ?? 0,
    ...present({ lastUsed: use && new Date(use.last).toISOString(), problem: ranking.problem }),
  };
}

function rankLines({ score, signals, uses, lastUsed, problem }: z.output<typeof rankSchema>): string[] {
  const started =
    lastUsed === undefined ? t`not started here yet` : t`started ${plural(uses, 'time')}, last ${lastUsed}`;
  return [
    t`Ranking: ${score} (${started})`,
    ...signals.map(
      ({ signal, value, weight, points }) => `- ${say(signal)} ${value} × ${weight} = ${points}`,
    ),
    ...(problem === undefined ? [] : [`- ${problem}`]),
  ];
}

function reason(record: BmadRecord, winner: BmadRecord, { catalogue }: Workspace): string {
  const instead = catalogue.overridden.get(record);
  if (record === winner && instead !== undefined)
    return t`asked for by its own address; ${qualifiedName(instead)} from ${instead.origin.displayName} is served otherwise`;
  if (record === winner && catalogue.isPreferred(record))
    return t`the setting prefer names its origin for it`;
  if (record === winner)
    return record.exists
      ? t`the first that exists in order of priority`
      : t`a manifest lists it, and its file does not exist; restore it, or run the installer of BMAD again`;
  if (!record.exists) return t`its file does not exist`;
  const first = instead ?? winner;
  if (catalogue.isPreferred(first) && !catalogue.isPreferred(record))
    return t`the setting prefer names ${first.origin.displayName} for it`;
  if (instead !== undefined)
    return t`the same as ${qualifiedName(instead)}, and ${instead.origin.displayName} has a higher rank (${instead.origin.priority})`;
  if (record.origin.priority > winner.origin.priority)
    return t`${winner.origin.displayName} has a higher rank (${winner.origin.priority})`;
  if (record.deprecated !== undefined) return t`it is deprecated`;
  if (record.moduleName !== winner.moduleName) return t`another module; ask for ${qualifiedName(record)}`;
  return t`another name fits better`;
}

async function explainFile(target: string, workspace: Workspace, context: Context) {
  const { path, from } = await findFile(target, workspace, context);
  const candidates: Candidate[] = [];
  // A name such as bmad://agents/x means the file of one origin; a path means the first that has it.
  const { sources } = workspace.catalogue;
  const ordered = [
    ...sources.filter(({ origin }) => origin === from),
    ...sources.filter(({ origin }) => origin !== from),
  ];
  for (const { origin, tree } of ordered) {
    const exists = await tree.read(path).then(
      () => true,
      () => false,
    );
    if (!exists) continue;
    const chosen = candidates.length === 0;
    candidates.push({
      name: path,
      kind: 'file',
      ...placed(origin),
      status: 'verified',
      path: tree.place(path),
      chosen,
      why: chosen
        ? from === undefined
          ? t`the first that exists in order of priority`
          : t`the file behind this name`
        : `${candidates[0]?.origin ?? ''} ${from === undefined ? t`has a higher rank` : t`has the file meant`}`,
    });
  }
  const [first] = candidates;
  // Either the server makes it, or this throws with suggestions.
  if (first === undefined) await workspace.delivery.file(path);
  return {
    target,
    is: 'file' as const,
    candidates,
    layers: [],
    note: `${contentUri(path)} ${first === undefined ? t`is generated by the server; no origin has it` : t`is read from ${first.origin}`}.`,
  };
}

function explainKey(target: string, layers: Awaited<ReturnType<Workspace['delivery']['layersOfKey']>>) {
  if (layers.length === 0) {
    throw new BmadError('not_found', t`No configuration key ${quoted(target)} is set.`, {
      subject: target,
      hint: t`Keys look like core.user_name or modules.bmm.planning_artifacts.`,
    });
  }
  const last = layers.at(-1);
  return {
    target,
    is: 'config' as const,
    candidates: [],
    layers,
    note: t`In force: ${last?.value ?? ''} from ${last?.file ?? ''}.`,
  };
}

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
