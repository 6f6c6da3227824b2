import { noContent } from '../answer-text.ts';
import * as z from 'zod';
import { BmadError, ours } from '../../base/errors.ts';
import { PRODUCT, VERSION } from '../../base/product.ts';
import type { Step } from '../../base/step.ts';
import { plural, say, t } from '../../base/text/message.ts';
import { present } from '../../base/values.ts';
import { isListed, problemText } from '../../model/record.ts';
import type { CataloguePort, MemoryPort, PlacePort, SettingsPort, StatePort, Workspace } from '../context.ts';
import { projectField, stepsField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { linesPlace, onMachine, PLACES } from '../project/state-place.ts';
import {
  hostLines,
  hostsSchema,
  isWell,
  safetyLines,
  safetyOf,
  safetySchema,
  stateFindings,
  watchFindings,
} from './doctor-text.ts';

export type { CheckedHost } from './doctor-text.ts';

const originSchema = z.object({
  name: z.string(),
  kind: z.string(),
  root: z.string(),
  priority: z.number(),
  agents: z.int(),
  workflows: z.int(),
  tasks: z.int(),
  skills: z.int(),
  deprecated: z.int(),
});

export const cacheSchema = z.object({
  parts: z.array(
    z.object({
      part: z.string(),
      folder: z.string(),
      files: z.int(),
      bytes: z.int(),
      newest: z.string().optional(),
      oldest: z.string().optional(),
      damaged: z.int().describe('Made again when needed'),
      outdated: z.int().describe('Of another version of the server'),
    }),
  ),
  mostFiles: z.int().describe('In each folder'),
  mostBytes: z.int().describe('In each folder'),
});
export type CacheView = z.output<typeof cacheSchema>;

/** `512 MiB`, `0.3 MiB`. */
export function mebibytes(bytes: number): string {
  return `${Number((bytes / 1_048_576).toFixed(1))} MiB`;
}

const isEmpty = ({ parts }: CacheView): boolean => parts.every(({ files }) => files === 0);

export function cacheLines(view: CacheView): string[] {
  const { parts, mostFiles, mostBytes } = view;
  if (isEmpty(view)) return [t`Cache: empty; only large content is kept`];
  return [
    t`Cache: at most ${mostFiles} files and ${mebibytes(mostBytes)} in each folder`,
    ...parts.map(({ part, folder, files, bytes, newest, oldest, damaged, outdated }) => {
      const size = files === 0 ? t`empty` : `${plural(files, 'file')}, ${mebibytes(bytes)}`;
      const days = [oldest, newest].map((time) => time?.slice(0, 10));
      const age =
        files === 0 ? '' : days[0] === days[1] ? t`, of ${days[1]}` : t`, of ${days[0]} to ${days[1]}`;
      const faults = [
        damaged === 0 ? '' : t`, ${damaged} damaged`,
        outdated === 0 ? '' : t`, ${outdated} of another version`,
      ].join('');
      return t`- ${part}: ${size}${age}${faults}\n  ${folder}`;
    }),
  ];
}

export const doctor = defineOperation({
  name: 'doctor',
  title: 'Check the installation',
  description:
    'Show where content comes from, how much there is, what is broken, and whether the server answers.',
  effect: 'read',
  behind: { bmad: 'doctor' },
  fromForm: (form) => ({ args: { ...form, handshake: false } }),
  command: 'doctor',
  examples: ['doctor', 'doctor --no-handshake', 'doctor --hosts'],
  runsProgramsWith: ['handshake'],
  typedOnly: ['hosts'],
  input: z.strictObject({
    handshake: z.boolean().optional().meta({ default: true }).describe('Start the server to check its tools'),
    hosts: z
      .boolean()
      .optional()
      .describe('Check the hosts too: start what each is configured to start for this server'),
    project: projectField,
  }),
  output: z.object({
    version: z.string(),
    node: z.string(),
    project: z.object({ root: z.string().optional(), from: z.string() }),
    modules: z.array(z.string()),
    origins: z.array(originSchema),
    problems: z.array(z.string()),
    findings: z.array(z.object({ level: z.enum(['broken', 'notice']), about: z.string(), text: z.string() })),
    warnings: z.array(z.string()),
    memories: z.enum(['private', 'shared', 'user', 'database']).optional().describe('Who has them'),
    safety: safetySchema.optional(),
    cache: cacheSchema.optional(),
    steps: stepsField,
    handshake: z
      .object({
        ok: z.boolean(),
        tools: z.array(z.string()),
        protocol: z.string(),
        trouble: z.string().optional(),
      })
      .optional(),
    hosts: hostsSchema.optional(),
    ok: z.boolean(),
  }),

  async run({ handshake: asked, hosts: askedHosts }, context, call) {
    // Over HTTP anybody who may read could have processes started, as many at once as they like.
    const handshake = asked ?? call.overHttp !== true;
    const opened = await openedOr(context);
    if (opened instanceof BmadError) return unusable(opened, context);
    const { catalogue, delivery, project: found, warnings, steps } = opened;
    const diagnosis = await context.diagnosis();
    const parts = await delivery.check();
    const examined = await diagnosis.examine(catalogue, call.signal);
    const all = [...catalogue.problems, ...parts];
    const problems = all.filter(({ mild }) => mild !== true).map(problemText);
    const kept = found.root === undefined ? undefined : await context.state();
    const { database, faults } = await databaseOf(kept);
    // What is kept in a database that cannot be used can say nothing of itself.
    const usable = faults.length > 0 ? undefined : kept;
    const machine = usable && (await onMachine(usable));
    const memories =
      kept && (database === undefined ? linesPlace(await kept.place()) : ('database' as const));
    const stores = usable === undefined ? faults : await faultsOfStores(context);
    const told = new Set(problems);
    const state =
      usable === undefined ? [] : (await stateFindings(context)).filter(({ text }) => !told.has(text));
    const notice = (about: string, text: string) => ({ level: 'notice' as const, about, text });
    const findings = [
      ...examined,
      ...all.filter(({ mild }) => mild === true).map((problem) => notice('content', problemText(problem))),
      ...stores,
      ...state,
      // Whose tokens they are, and where, concerns the one alone who keeps them.
      ...(call.overHttp === true ? [] : await diagnosis.tokens()),
      ...watchFindings(context.watching()),
      ...(machine === undefined ? [] : [notice(t`state on this machine`, machine.text)]),
    ];
    const nothing = noContent(opened, context.config.discovery);
    const cache = await diagnosis.cache();
    const clearing = isEmpty(cache) ? [] : [CLEAR];
    if (handshake) call.progress(t`starting the server for a handshake`);
    const shaken = handshake ? await diagnosis.handshake(call.signal) : undefined;
    const checked =
      askedHosts === true ? await (await import('./doctor-hosts.ts')).checkedHosts(context, call) : undefined;
    const following = [...steps, ...(checked?.steps ?? []), ...(machine?.steps ?? []), ...clearing];
    return {
      version: VERSION,
      node: process.version,
      project: { from: String(found.from), ...present({ root: found.root }) },
      modules: catalogue.modules.map(({ code, version }) => [code, version].filter(Boolean).join(' ')),
      origins: catalogue.sources.map(({ origin }) => {
        const own = catalogue.records.filter((record) => record.origin === origin && record.exists);
        const count = (kind: string): number =>
          own.filter((record) => record.kind === kind && isListed(record)).length;
        return {
          name: origin.displayName,
          kind: origin.kind,
          root: origin.root,
          priority: origin.priority,
          agents: count('agent'),
          workflows: count('workflow'),
          tasks: count('task'),
          skills: count('skill'),
          deprecated: own.filter((record) => record.deprecated !== undefined).length,
        };
      }),
      problems,
      findings,
      warnings: [...context.configWarnings, ...warnings, ...(nothing === undefined ? [] : [nothing])],
      safety: await safetyOf(opened, context, findings),
      cache,
      ...present({ memories, handshake: shaken, hosts: checked?.hosts }),
      ...(following.length === 0 ? {} : { steps: following }),
      ok:
        problems.length === 0 &&
        findings.every(({ level }) => level !== 'broken') &&
        (shaken?.ok ?? true) &&
        (checked === undefined || isWell(checked.hosts)),
    };
  },

  failed: ({ ok }) => !ok,

  render(data) {
    const origins = data.origins.map(
      (origin) =>
        t`- ${origin.name}: ${plural(origin.agents, 'agent')}, ${plural(origin.workflows, 'workflow')}, ${plural(origin.tasks, 'task')}, ${plural(origin.skills, 'plain skill')}, ${plural(origin.deprecated, 'deprecated name')}\n  priority ${origin.priority}, ${origin.root}`,
    );
    const handshake =
      data.handshake === undefined
        ? t`not tried`
        : data.handshake.ok
          ? t`ok, protocol ${data.handshake.protocol}, ${plural(data.handshake.tools.length, 'tool')}: ${data.handshake.tools.join(', ')}`
          : t`FAILED: ${data.handshake.trouble ?? ''}`;
    const lines = [
      t`${PRODUCT} ${data.version} on Node ${data.node}`,
      t`Project: ${data.project.root ?? t`none`} (${data.project.from})`,
      t`Modules: ${data.modules.join(', ') || t`none`}`,
      ...(data.memories === undefined ? [] : [t`Memories: ${say(PLACES[data.memories])}`]),
      t`Origins:`,
      ...origins,
      t`Handshake: ${handshake}`,
      ...(data.hosts === undefined ? [] : hostLines(data.hosts)),
      ...(data.safety === undefined ? [] : safetyLines(data.safety)),
      ...(data.cache === undefined || isEmpty(data.cache) ? [] : cacheLines(data.cache)),
      data.problems.length + data.findings.length === 0 ? t`Problems: none` : t`Problems:`,
      ...data.problems.map((problem) => `- ${problem}`),
      ...data.findings.map(({ level, text }) =>
        level === 'broken' ? t`- BROKEN: ${text}` : t`- Notice: ${text}`,
      ),
      ...data.warnings.map((warning) => t`Warning: ${warning}`),
    ];
    return {
      body: lines.join('\n'),
      note: !data.ok
        ? t`Something is broken; see above.`
        : data.warnings.length > 0
          ? t`It works; see the warnings above.`
          : t`All is well.`,
      steps: data.steps ?? [],
    };
  },
});

const CLEAR: Step = { operation: 'cache_clear', why: 'Clear the cache' };

/** The database of the state, where there is one, and why it cannot be used. */
async function databaseOf(state: PlacePort | undefined) {
  let database: string | undefined;
  const broken = (text: string) => ({
    database,
    faults: [{ level: 'broken' as const, about: 'database', text }],
  });
  try {
    const found = await state?.database();
    database = found?.shown;
    const counted = await found?.counted();
    return counted === undefined || counted.schema.version === counted.expected
      ? { database, faults: [] }
      : broken(
          t`The tables in ${database ?? ''} are not of version ${counted.expected}; the owner of the database brings them up to date.`,
        );
  } catch (error) {
    return ours((failure) => broken(failure.line))(error);
  }
}

/** What is wrong with the memories, and what is left of projects that are gone. */
async function faultsOfStores(context: MemoryPort) {
  const memory = await context.memory(false);
  const about = 'memory-store';
  const left = (await memory.leftMirrors()).map(
    ({ at, project: gone }) => t`${at} has lines of ${gone}, which no longer exists.`,
  );
  return [
    ...(await memory.faults()).map((text) => ({ level: 'broken' as const, about, text })),
    ...left.map((text) => ({ level: 'notice' as const, about: 'mirror', text })),
  ];
}

/** The doctor has to speak even when the project is what is wrong. */
async function openedOr(context: CataloguePort & StatePort): Promise<Workspace | BmadError> {
  const opened = async (): Promise<Workspace> => {
    const workspace = await context.workspace();
    // The folder may be gone by now.
    if (workspace.project.root !== undefined) await context.state();
    return workspace;
  };
  return opened().catch(ours((error) => error));
}

function unusable(error: BmadError, context: SettingsPort) {
  return {
    version: VERSION,
    node: process.version,
    project: { from: error.message },
    modules: [],
    origins: [],
    problems: [error.message],
    findings: [],
    warnings: [...context.configWarnings],
    ok: false,
  };
}
