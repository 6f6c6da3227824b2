import { architectures } from './architectures.ts';
import { firstSteps, isBegun } from './beginnings.ts';
import { isPartOfPrd, lacksOnlyCheck } from './phases.ts';
import { HAS_CONTENT } from './document.ts';
import { at, type Evidence, type Item, type ItemKind } from './model.ts';
import type { Report } from './report.ts';
import { RULES } from './rules.ts';
import { missingShards } from './shards.ts';
import { MAKE_LEDGER, type Action, type Work, type Workers } from './workers.ts';

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

/** The brief of newer versions is begun as a draft, and no step of its workflow changes that. */
function isLeftAsDraft(kind: ItemKind, [first]: readonly Evidence[]): boolean {
  return (
    kind === 'brief' &&
    first !== undefined &&
    /\/briefs\//.test(first.file) &&
    /^status draft$/i.test(first.says)
  );
}
const AS_DRAFT =
  'no step of its workflow changes that, so write status: final there once it is as it should be';

/** Drafts first, then the first document that is needed and missing, then what may be done as well. */
export function planActions(report: Report, workers: Workers, started: readonly string[]): Action[] {
  const { items, stories, sprint, workflows, files } = report;
  const { v4 } = report.locations;
  const actions: Action[] = [];
  const head = (kind: ItemKind | undefined): Item | undefined =>
    items.find((item) => item.kind === kind && item.id === kind);
  const proofOf = (kind: ItemKind | undefined): Evidence[] => head(kind)?.evidence ?? [];
  const isOpen = (kind: ItemKind): boolean =>
    !['complete', 'skipped'].includes(head(kind)?.state ?? 'not started');
  const act = (
    kind: ItemKind,
    verb: string,
    why: string,
    evidence: Evidence[],
    optional = false,
    workerFor?: string,
  ): void => {
    const worker = workers.for(kind === 'spec' ? 'tech spec' : (kind as Work), v4);
    const name =
      kind === 'epics' && worker?.command === '*shard-prd' ? 'the shards of the PRD' : (NAMES[kind] ?? kind);
    actions.push({ what: `${verb} ${name}`, why, evidence, worker, workerFor, optional });
  };
  // Whether the last step has been taken, such epics cannot say: what comes after is offered too, for those who know.
  const unmarked = head('epics')?.state === 'in progress' && report.artefacts.some(lacksOnlyCheck);
  const isUnderWay = sprint !== undefined || stories.some(({ file }) => file !== undefined);
  for (const { kind, state, phase, evidence } of items) {
    if (state !== 'in progress' || NAMES[kind] === undefined || phase === 'implementation') continue;
    // Epics that are part of a PRD are finished with it.
    if (kind === 'epics' && proofOf('prd')[0]?.file === evidence[0]?.file) continue;
    const isLate = kind === 'readiness' && isUnderWay;
    const why = toldBy(evidence) ?? state;
    const [edit, workerFor] =
      kind === 'epics' && unmarked
        ? [`; ${UNMARKED}`, 'Only if it has not been made']
        : isLeftAsDraft(kind, evidence)
          ? [`; ${AS_DRAFT}`, 'Only if its text is not finished']
          : [''];
    act(kind, kind === 'readiness' ? 'Repeat' : 'Finish', `${why}${edit}`, evidence, isLate, workerFor);
  }
  if (!isBegun(report)) return firstSteps(workers, started);
  const quick = !isOpen('spec') && isOpen('prd');
  const order = neededOrder(report, workers, { quick, isUnderWay });
  // What comes after it was written without it: nobody is sent back.
  const passed = order.findLastIndex((kind) => !isOpen(kind) && !isPartOfPrd(head(kind), items));
  const missing = order.slice(passed + 1).find((kind) => isOpen(kind) && !(unmarked && kind === 'epics'));
  const known = proofOf(missing);
  if (missing === undefined) {
    if (!isUnderWay && report.broken.length === 0) {
      const proof = proofOf(order.at(-1)).slice(0, 1);
      const shards = missingShards(report.locations.shards, report.artefacts);
      actions.push(...shards.map((each) => shardAction(each, workers)));
      const lacks = v4 ? 'and no story has been drafted yet' : 'but there is no story ledger';
      // Stories are drafted from the shards.
      if (shards.length === 0)
        actions.push({
          what: v4 ? 'Draft the first story' : 'Plan the sprint',
          why: unmarked
            ? 'once the epics have been checked; there is no story ledger yet'
            : `${quick ? 'the spec is' : 'the plan is'} complete${placeOf(proof)}, ${lacks}`,
          evidence: proof,
          worker: workers.for('sprint planning', v4),
          ...(v4 || report.plan.epics.length + report.plan.stories.length === 0
            ? {}
            : { steps: [MAKE_LEDGER] }),
          optional: unmarked,
        });
      // Once there are shards, the documents have been checked, or somebody has gone on without.
      if (v4 && shards.length === report.locations.shards.length)
        actions.push(...checklistActions(proof, workers));
    }
  } else if (head(missing)?.state === 'in progress') return actions;
  else if (head(missing)?.state === 'unknown')
    act(missing, 'Look at', toldBy(known) ?? 'it cannot be read', known);
  else {
    const before = order[order.indexOf(missing) - 1];
    const proof = proofOf(before);
    const isWaiting = before === 'epics' && unmarked;
    const follows = isWaiting
      ? 'once the epics have been checked; this comes before the sprint is planned'
      : before === undefined || head(before)?.state !== 'complete'
        ? 'there is none yet'
        : // A document that says nothing of itself is known to have content, and no more.
          proof[0]?.says === HAS_CONTENT
          ? `${NAMES[before] ?? before} ${before === 'epics' ? 'exist and have' : 'exists and has'} content${placeOf(proof)}; this comes ${missing === 'readiness' ? 'before the sprint is planned' : 'next'}`
          : `${NAMES[before] ?? before} ${before === 'epics' ? 'are' : 'is'} complete${placeOf(proof)}; this comes ${missing === 'readiness' ? 'before the sprint is planned' : 'next'}`;
    const other = missing === 'epics' && !v4 && workers.for('tech spec', false)?.record.name === 'bmad-spec';
    // Who builds already does without it.
    if (stories.some(({ file, row }) => file !== undefined || row !== undefined) || files.specs.length > 0)
      return actions;
    act(
      missing,
      missing === 'readiness' ? 'Run' : 'Write',
      toldBy(known) ?? (other ? `${follows}. ${NOT_SPEC}` : follows),
      known.length === 0 ? proof : known.slice(0, 1),
      isWaiting,
    );
    if (missing === 'architecture' && !v4 && !isOpen('prd'))
      act('epics', 'Write', 'if no architecture is wanted', proof.slice(0, 1), true);
    const written = missing === 'architecture' && v4 ? actions.pop() : undefined;
    if (written !== undefined) actions.push(...architectures(written, report, workers, started));
  }
  const isPlanned = !isUnderWay && !isOpen('prd') && isOpen('architecture');
  if (isPlanned && passed > order.indexOf('architecture'))
    act('architecture', 'Write', 'the epics were written without one', proofOf('epics').slice(0, 1), true);
  if (isPlanned && head('ux')?.state === 'not started') {
    const row = workflows?.rows.find(({ kind }) => kind === 'ux');
    const asked = row === undefined ? [] : [{ file: workflows?.file ?? '', line: row.line, says: row.word }];
    act('ux', 'Write', 'only if the product has a user interface', asked, true);
  }
  return actions;
}

/** The product owner of version 4 checks all documents; nothing on file says whether that has been done. */
function checklistActions(evidence: Evidence[], workers: Workers): Action[] {
  const worker = workers.for(RULES['master checklist'].work, true);
  if (worker === undefined) return [];
  return [
    {
      what: "Run the product owner's master checklist",
      why: 'for a check of all documents before the steps above; it leaves no file, so skip it once it has been run',
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
    what: `Make the shards of ${NAMES[kind] ?? kind}`,
    why: `stories are drafted from ${to} (${evidence.says}, ${at(evidence)}), and there is only ${from}`,
    evidence: [evidence],
    worker: workers.for(kind === 'prd' ? RULES.shards.work : 'shard architecture', true),
    about: kind === 'prd' ? from : `${from} ${to}`,
  };
}

function toldBy([first]: readonly Evidence[]): string | undefined {
  return first === undefined ? undefined : `${first.says} (${at(first)})`;
}

function placeOf([first]: readonly Evidence[]): string {
  return first === undefined ? '' : ` (${at(first)})`;
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
