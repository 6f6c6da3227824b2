import { placed } from '../../base/text/text.ts';
import type { Step } from '../../base/step.ts';
import { say, t } from '../../base/text/message.ts';
import { isPartOfPrd, lacksOnlyCheck, missingShards, PHASE_OF } from './artefacts.ts';
import type { Report } from './found.ts';
import { type Evidence, type Item, type ItemKind } from './rules.ts';
import { type Action, MAKE_LEDGER, RULES, type Work, type Workers, worksOf } from './workers.ts';

const NAMES: Partial<Record<ItemKind, string>> = {
  brief: 'the product brief',
  prd: 'the PRD',
  spec: 'the spec',
  ux: 'the UX design',
  architecture: 'the architecture',
  epics: 'the epics and stories',
  readiness: 'the readiness check',
};

/** Said of epics of which all is written: the step that checks them leaves no mark in any version. */
const UNMARKED =
  'the last one checks them and leaves no mark of its own, so add its number to stepsCompleted once it has been made';

/** Texts of newer versions lead with the one or the other. */
const NOT_SPEC = 'Where a text leads to bmad-spec instead, that is for work without epics';

const nameOf = (kind: ItemKind): string => say(NAMES[kind] ?? kind);

/** What is done with a document. */
const VERBS = {
  write: (name: string): string => t`Write ${name}`,
  finish: (name: string): string => t`Finish ${name}`,
  look: (name: string): string => t`Look at ${name}`,
  run: (name: string): string => t`Run ${name}`,
  repeat: (name: string): string => t`Repeat ${name}`,
} as const;

/** The brief of newer versions is begun as a draft, and no step of its workflow changes that. */
function isLeftAsDraft(kind: ItemKind, [first]: readonly Evidence[], { artefacts }: Report): boolean {
  if (kind !== 'brief' || first === undefined || !/\/briefs\//.test(first.file)) return false;
  return artefacts.some(
    ({ evidence, status = '' }) => evidence.file === first.file && /^draft$/i.test(status),
  );
}
const AS_DRAFT =
  'no step of its workflow changes that, so write status: final there once it is as it should be';

/** What is known of the documents of a plan, for each of the steps below. */
interface Plan {
  report: Report;
  workers: Workers;
  head(kind: ItemKind | undefined): Item | undefined;
  proofOf(kind: ItemKind | undefined): Evidence[];
  isOpen(kind: ItemKind): boolean;
  /** Only the check of the epics is left. Whether it was made they cannot say, so what comes after is offered too. */
  unmarked: boolean;
  isUnderWay: boolean;
  quick: boolean;
  order: ItemKind[];
  /** The last of the order that there is: what comes before it was done without, and nobody is sent back. */
  passed: number;
  missing: ItemKind | undefined;
}

function planOf(report: Report, workers: Workers): Plan {
  const { items, sprint, stories } = report;
  const head = (kind: ItemKind | undefined): Item | undefined =>
    items.find((item) => item.kind === kind && item.id === kind);
  const isOpen = (kind: ItemKind): boolean =>
    !['complete', 'skipped'].includes(head(kind)?.state ?? 'not started');
  const unmarked = head('epics')?.state === 'in progress' && report.artefacts.some(lacksOnlyCheck);
  const isUnderWay = sprint !== undefined || stories.some(({ file }) => file !== undefined);
  const quick = !isOpen('spec') && isOpen('prd');
  const order = neededOrder(report, workers, { quick, isUnderWay });
  const passed = order.findLastIndex((kind) => !isOpen(kind) && !isPartOfPrd(head(kind), items));
  const missing = order.slice(passed + 1).find((kind) => isOpen(kind) && !(unmarked && kind === 'epics'));
  const proofOf = (kind: ItemKind | undefined): Evidence[] => head(kind)?.evidence ?? [];
  return { report, workers, head, proofOf, isOpen, unmarked, isUnderWay, quick, order, passed, missing };
}

/** Drafts first, then the first document that is needed and missing, then what may be done as well. */
export function planActions(report: Report, workers: Workers, started: readonly string[]): Action[] {
  if (!isBegun(report)) return firstSteps(workers, started);
  const plan = planOf(report, workers);
  const { missing } = plan;
  if (missing === undefined) return [...drafts(plan), ...sprintActions(plan), ...besides(plan)];
  const state = plan.head(missing)?.state;
  if (state === 'in progress') return drafts(plan);
  if (state === 'unknown') {
    const known = plan.proofOf(missing);
    const look = act(plan, missing, 'look', toldBy(known) ?? t`it cannot be read`, known);
    return [...drafts(plan), look, ...besides(plan)];
  }
  // Who builds already does without it.
  const isBuilt = report.stories.some(({ file, row }) => file !== undefined || row !== undefined);
  if (isBuilt || report.files.specs.length > 0) return drafts(plan);
  return [...drafts(plan), ...missingActions(plan, missing), ...besides(plan)];
}

function act(
  { report: { locations }, workers }: Plan,
  kind: ItemKind,
  verb: keyof typeof VERBS,
  why: string,
  evidence: Evidence[],
  more: Pick<Action, 'optional' | 'workerFor'> = {},
): Action {
  const worker = workers.for(kind === 'spec' ? 'tech spec' : (kind as Work), locations.v4);
  const name = kind === 'epics' && worker?.command === '*shard-prd' ? t`the shards of the PRD` : nameOf(kind);
  return { what: VERBS[verb](name), why, evidence, worker, phase: PHASE_OF[kind], ...more };
}

function drafts(plan: Plan): Action[] {
  const { report, unmarked, isUnderWay, proofOf } = plan;
  return report.items.flatMap(({ kind, state, phase, evidence }) => {
    if (state !== 'in progress' || NAMES[kind] === undefined || phase === 'implementation') return [];
    // Epics that are part of a PRD are finished with it.
    if (kind === 'epics' && proofOf('prd')[0]?.file === evidence[0]?.file) return [];
    const [edit, workerFor] =
      kind === 'epics' && unmarked
        ? [`; ${say(UNMARKED)}`, t`Only if it has not been made`]
        : isLeftAsDraft(kind, evidence, report)
          ? [`; ${say(AS_DRAFT)}`, t`Only if its text is not finished`]
          : [''];
    const why = `${toldBy(evidence) ?? say(state)}${edit}`;
    const optional = kind === 'readiness' && isUnderWay;
    return [
      act(plan, kind, kind === 'readiness' ? 'repeat' : 'finish', why, evidence, { optional, workerFor }),
    ];
  });
}

/** What comes between a plan that is complete and its first story. */
function sprintActions({ report, workers, proofOf, unmarked, isUnderWay, quick, order }: Plan): Action[] {
  if (isUnderWay || report.broken.length > 0) return [];
  const { v4 } = report.locations;
  const proof = proofOf(order.at(-1)).slice(0, 1);
  const shards = missingShards(report.locations.shards, report.artefacts);
  const actions = shards.map((each) => shardAction(each, workers));

  // Stories are drafted from the shards.
  if (shards.length === 0)
    actions.push({
      what: v4 ? t`Draft the first story` : t`Plan the sprint`,
      why: unmarked
        ? t`once the epics have been checked; there is no story ledger yet`
        : quick
          ? v4
            ? t`the spec is complete${placeOf(proof)}, and no story has been drafted yet`
            : t`the spec is complete${placeOf(proof)}, but there is no story ledger`
          : v4
            ? t`the plan is complete${placeOf(proof)}, and no story has been drafted yet`
            : t`the plan is complete${placeOf(proof)}, but there is no story ledger`,
      evidence: proof,
      worker: workers.for('sprint planning', v4),
      ...(v4 || report.plan.epics.length + report.plan.stories.length === 0
        ? {}
        : { steps: [{ ...MAKE_LEDGER, why: t`Or make the ledger from the epics` }] }),
      optional: unmarked,
    });
  // Once there are shards, the documents have been checked, or somebody has gone on without.
  if (v4 && shards.length === report.locations.shards.length)
    actions.push(...checklistActions(proof, workers));
  return actions;
}

/** The first document that is needed and not there. */
function missingActions(plan: Plan, missing: ItemKind): Action[] {
  const { report, workers, head, proofOf, isOpen, order, unmarked } = plan;
  const { v4 } = report.locations;
  const known = proofOf(missing);
  const before = order[order.indexOf(missing) - 1];
  const proof = proofOf(before);
  const isWaiting = before === 'epics' && unmarked;
  const follows = isWaiting
    ? t`once the epics have been checked; this comes before the sprint is planned`
    : before === undefined || head(before)?.state !== 'complete'
      ? t`there is none yet`
      : // A document that says nothing of itself is known to have content, and no more.
        report.artefacts.some(({ plain, evidence }) => plain === true && evidence.file === proof[0]?.file)
        ? followsText(`${hasContent(before)}${placeOf(proof)}`, missing)
        : followsText(`${isComplete(before)}${placeOf(proof)}`, missing);
  const other = missing === 'epics' && !v4 && workers.for('tech spec', false)?.record.name === 'bmad-spec';
  const written = act(
    plan,
    missing,
    missing === 'readiness' ? 'run' : 'write',
    toldBy(known) ?? (other ? `${follows}. ${say(NOT_SPEC)}` : follows),
    known.length === 0 ? proof : known.slice(0, 1),
    { optional: isWaiting },
  );
  if (missing !== 'architecture') return [written];
  if (v4) return [{ ...written, ...kindsOfArchitecture(report, workers) }];
  return isOpen('prd')
    ? [written]
    : [
        written,
        act(plan, 'epics', 'write', t`if no architecture is wanted`, proof.slice(0, 1), { optional: true }),
      ];
}

const hasContent = (kind: ItemKind): string =>
  kind === 'epics' ? t`${nameOf(kind)} exist and have content` : t`${nameOf(kind)} exists and has content`;

const isComplete = (kind: ItemKind): string =>
  kind === 'epics' ? t`${nameOf(kind)} are complete` : t`${nameOf(kind)} is complete`;

const followsText = (so: string, missing: ItemKind): string =>
  missing === 'readiness' ? t`${so}; this comes before the sprint is planned` : t`${so}; this comes next`;

/** Version 4 has a command for each kind of architecture. Which of them the product needs, the reader knows. */
function kindsOfArchitecture({ brownfield }: Report, workers: Workers): Pick<Action, 'workerFor' | 'steps'> {
  const step = (why: string, work: Work): Step[] => {
    const { name, kind, command } = workers.for(work, true) ?? {};
    return name === undefined ? [] : [{ operation: 'execute', args: { name, kind, message: command }, why }];
  };
  return {
    workerFor: t`With a user interface`,
    steps: [
      ...step(t`Without a user interface`, RULES['no interface'].work),
      ...(brownfield ? step(t`For a change to the existing code`, RULES['existing code'].work) : []),
    ],
  };
}

/** What may be written as well before anything is built. */
function besides(plan: Plan): Action[] {
  const { report, head, proofOf, isOpen, isUnderWay, order, passed } = plan;
  if (isUnderWay || isOpen('prd') || !isOpen('architecture')) return [];
  const actions: Action[] = [];
  const optional = true;
  if (passed > order.indexOf('architecture')) {
    const proof = proofOf('epics').slice(0, 1);
    actions.push(
      act(plan, 'architecture', 'write', t`the epics were written without one`, proof, { optional }),
    );
  }
  if (head('ux')?.state === 'not started') {
    const { workflows } = report;
    const row = workflows?.rows.find(({ kind }) => kind === 'ux');
    const asked = row === undefined ? [] : [{ file: workflows?.file ?? '', line: row.line, says: row.word }];
    actions.push(act(plan, 'ux', 'write', t`only if the product has a user interface`, asked, { optional }));
  }
  return actions;
}

/** The product owner of version 4 checks all documents; nothing on file says whether that has been done. */
function checklistActions(evidence: Evidence[], workers: Workers): Action[] {
  const worker = workers.for(RULES['master checklist'].work, true);
  if (worker === undefined) return [];
  return [
    {
      what: t`Run the product owner's master checklist`,
      why: t`for a check of all documents before the steps above; it leaves no file, so skip it once it has been run`,
      evidence,
      worker,
      optional: true,
    },
  ];
}

function shardAction(
  { kind, from, to, evidence }: ReturnType<typeof missingShards>[number],
  workers: Workers,
): Action {
  return {
    what: t`Shard ${nameOf(kind)}`,
    why: t`stories are drafted from ${to} (${evidence.says}, ${placed(evidence)}), and there is only ${from}`,
    evidence: [evidence],
    worker: workers.for(kind === 'prd' ? RULES.shards.work : 'shard architecture', true),
    about: kind === 'prd' ? from : `${from} ${to}`,
  };
}

function toldBy([first]: readonly Evidence[]): string | undefined {
  return first === undefined ? undefined : `${first.says} (${placed(first)})`;
}

function placeOf([first]: readonly Evidence[]): string {
  return first === undefined ? '' : ` (${placed(first)})`;
}

/** What has to be there before stories, in the order of the project's own version. */
function neededOrder(
  { workflows, locations: { v4 } }: Report,
  workers: Workers,
  { quick, isUnderWay }: { quick: boolean; isUnderWay: boolean },
): ItemKind[] {
  if (quick) return ['spec'];
  // The first alphas made the epics out of the PRD, before the architecture.
  const early = workers.for('epics', v4)?.record.bmadRelativePath.includes('2-plan') === true;
  const briefed = workflows?.rows.some(({ kind, required }) => kind === 'brief' && required) === true;
  // What has been begun is past the check.
  const checked = !v4 && !isUnderWay && workers.for('readiness', false) !== undefined;
  return [
    ...(briefed ? (['brief'] as const) : []),
    'prd',
    ...(early ? (['epics', 'architecture'] as const) : (['architecture', 'epics'] as const)),
    ...(checked ? (['readiness'] as const) : []),
  ];
}

interface Way {
  work: Work;
  what: string;
  why: string;
}

/** What a project is begun with, or begun anew; which of them a wish needs, its reader knows. */
const WAYS: readonly Way[] = [
  { work: 'quick work', what: 'Build it right away', why: 'for one change' },
  { work: 'prd', what: 'Write a PRD', why: 'for several stories' },
  { work: 'brief', what: 'Write a product brief', why: 'for a whole plan' },
  { work: 'brainstorm', what: 'Brainstorm', why: 'for an idea that is not clear yet' },
  {
    work: 'document code',
    what: 'Document the existing code',
    why: 'for code that no document describes',
  },
];

/** The same where there is a plan, which then changes with what is new. */
const WITH_PLAN: readonly Way[] = [
  { work: 'quick work', what: 'Build it right away', why: 'for one change' },
  { work: 'correct course', what: 'Change the plan', why: 'for several stories' },
];

/** The ways to begin something new, as equals. */
export function beginnings(report: Report, workers: Workers, started: readonly string[]): Action[] {
  const { v4 } = report.locations;
  const prd = report.items.find(({ kind, id }) => kind === 'prd' && id === 'prd');
  const begun = new Set(started.flatMap(worksOf));
  const ways = prd?.state === 'complete' ? WITH_PLAN : WAYS;
  const actions = ways.flatMap(({ work, what, why }): Action[] => {
    const worker = isWay(work, report, begun) ? workers.for(work, v4) : undefined;
    if (worker === undefined) return [];
    return [
      {
        what: say(what),
        why: say(why),
        evidence: [],
        worker,
        optional: true,
        of: 'new',
      },
    ];
  });
  return [...actions, ...frames(report, workers)];
}

/**
 * Existing code and open ideas are for projects that have nothing else, and a document that is being written is finished
 * first; another change can always be built.
 */
function isWay(work: Work, report: Report, begun: ReadonlySet<Work>): boolean {
  if (work === 'quick work') return true;
  if (begun.has(work)) return false;
  const isFresh = !isBegun(report);
  if (work === 'document code') return isFresh && report.brownfield;
  if (work === 'brainstorm' || work === 'brief') return isFresh;
  return work !== 'prd' || !report.items.some(({ kind, state }) => kind === 'prd' && state !== 'not started');
}

/** The workflows of version 4 name every step from the idea to the last story. */
function frames(report: Report, workers: Workers): Action[] {
  const type = report.brownfield ? 'brownfield' : 'greenfield';
  const worker = report.locations.v4 && !isBegun(report) ? workers.frame(`${type}-fullstack`) : undefined;
  if (worker === undefined) return [];
  return [
    {
      what: t`Follow the workflow ${worker.name}`,
      why: t`for a whole plan, agent after agent (${type}-service without a user interface, ${type}-ui for a front end)`,
      evidence: [],
      worker,
      optional: true,
      of: 'new',
    },
  ];
}

/** The early alphas begin with the choice of a track, whatever is wanted. */
function firstSteps(workers: Workers, started: readonly string[]): Action[] {
  const worker = started.flatMap(worksOf).includes('begin') ? undefined : workers.for('begin', false);
  if (worker === undefined) return [];
  const what = t`Choose a track and write the list of workflows`;
  return [{ what, why: t`this version of BMAD starts with it`, evidence: [], worker }];
}

/** Whether there is anything to go on with. */
function isBegun({ items, files, sprint }: Report): boolean {
  return items.some(({ state }) => state !== 'not started') || files.specs.length > 0 || sprint !== undefined;
}
