import { withWorker, type Action } from './action.ts';
import { at, type Evidence, type Item, type ItemKind } from './model.ts';
import type { Report } from './report.ts';
import type { Work, Workers } from './workers.ts';

const NAMES: Partial<Record<ItemKind, string>> = {
  brief: 'the product brief',
  prd: 'the PRD',
  spec: 'the spec',
  ux: 'the UX design',
  architecture: 'the architecture',
  epics: 'the epics and stories',
  readiness: 'the readiness check',
};

/** Drafts first, then the first document that is needed and missing, then what may be done as well. */
export function planActions(report: Report, workers: Workers): Action[] {
  const { items, stories, sprint, locations, workflows } = report;
  const v4 = locations.v4 && !locations.v6;
  const actions: Action[] = [];
  const heads = (kind: ItemKind): Item | undefined =>
    items.find((item) => item.kind === kind && item.id === kind);
  const isOpen = (kind: ItemKind): boolean =>
    !['complete', 'skipped'].includes(heads(kind)?.state ?? 'not started');
  const act = (kind: ItemKind, verb: string, why: string, evidence: Evidence[], optional = false): void => {
    const work = kind === 'spec' ? 'tech spec' : (kind as Work);
    const worker = workers.for(work, v4);
    const name =
      kind === 'epics' && worker?.command === '*shard-prd' ? 'the shards of the PRD' : (NAMES[kind] ?? kind);
    actions.push({
      what: `${verb} ${name}`,
      why,
      evidence,
      ...withWorker(worker),
      ...(optional ? { optional: true as const } : {}),
    });
  };
  for (const item of items) {
    // Epics that are part of a PRD are finished with it.
    const inPrd = item.kind === 'epics' && heads('prd')?.evidence[0]?.file === item.evidence[0]?.file;
    if (
      item.state === 'in progress' &&
      NAMES[item.kind] !== undefined &&
      item.phase !== 'implementation' &&
      !inPrd
    ) {
      const [first] = item.evidence;
      act(
        item.kind,
        item.kind === 'readiness' ? 'Repeat' : 'Finish',
        first === undefined ? item.state : `${first.says} (${at(first)})`,
        item.evidence,
      );
    }
  }
  const begun = items.some(({ state }) => state !== 'not started') || report.files.specs.length > 0;
  if (!begun && sprint === undefined) return beginnings(report, workers, v4);
  const quick = !isOpen('spec') && isOpen('prd');
  const order = neededOrder(report, workers, quick);
  const missing = order.find(isOpen);
  const hasWork =
    stories.some(({ file, row }) => file !== undefined || row !== undefined) || report.files.specs.length > 0;
  if (missing !== undefined && heads(missing)?.state === 'in progress') return actions;
  if (missing !== undefined && heads(missing)?.state === 'unknown') {
    const [first] = heads(missing)?.evidence ?? [];
    act(
      missing,
      'Look at',
      first === undefined ? 'it cannot be read' : `${first.says} (${at(first)})`,
      heads(missing)?.evidence ?? [],
    );
  } else if (
    missing !== undefined &&
    !(missing === 'readiness' && workers.for('readiness', v4) === undefined)
  ) {
    const before = order[order.indexOf(missing) - 1];
    const proof = before === undefined ? [] : (heads(before)?.evidence ?? []);
    const [deciding] = heads(missing)?.evidence ?? [];
    const why =
      deciding !== undefined
        ? `${deciding.says} (${at(deciding)})`
        : before === undefined || heads(before)?.state !== 'complete'
          ? 'there is none yet'
          : `${NAMES[before] ?? before} ${before === 'epics' ? 'are' : 'is'} complete${proof[0] === undefined ? '' : ` (${at(proof[0])})`}; this comes next`;
    act(
      missing,
      missing === 'readiness' ? 'Run' : 'Write',
      why,
      deciding === undefined ? proof : [deciding],
      hasWork,
    );
  } else if (
    missing === undefined &&
    sprint === undefined &&
    !stories.some(({ file }) => file !== undefined) &&
    report.broken.length === 0
  ) {
    const [proof] = heads(order.at(-1) ?? 'epics')?.evidence ?? [];
    const whole = report.artefacts.every(({ kind, files }) => kind !== 'prd' || files.length === 1);
    if (v4 && whole)
      act(
        'epics',
        'Make',
        'stories are drafted from PRD shards, and the PRD is a single file',
        proof === undefined ? [] : [proof],
      );
    actions.push({
      what: v4 ? 'Draft the first story' : 'Plan the sprint',
      why: `${quick ? 'the spec is' : 'the plan is'} complete${proof === undefined ? '' : ` (${at(proof)})`}, but there is no story ledger`,
      evidence: proof === undefined ? [] : [proof],
      ...withWorker(workers.for('sprint planning', v4)),
    });
  }
  const uxWanted = heads('ux')?.state === 'not started' && !isOpen('prd') && isOpen('architecture');
  if (uxWanted)
    act(
      'ux',
      'Write',
      'only if the product has a user interface',
      workflows === undefined ? [] : ledgerLine(report, 'ux'),
      true,
    );
  return actions;
}

function ledgerLine({ workflows }: Report, kind: ItemKind): Evidence[] {
  const row = workflows?.rows.find((other) => other.kind === kind);
  return row === undefined || workflows === undefined
    ? []
    : [{ file: workflows.file, line: row.line, says: row.word }];
}

/** What has to be there before stories, in the order of the project's own version. */
function neededOrder({ workflows, locations }: Report, workers: Workers, quick: boolean): ItemKind[] {
  if (quick) return ['spec'];
  const epics = workers.for('epics', locations.v4 && !locations.v6);
  // The first alphas made the epics out of the PRD, before the architecture.
  const early = epics?.record.bmadRelativePath.includes('2-plan') === true;
  const order: ItemKind[] = early
    ? ['prd', 'epics', 'architecture', 'readiness']
    : ['prd', 'architecture', 'epics', 'readiness'];
  const required = (workflows?.rows ?? []).filter(
    ({ required: needed, says, kind }) =>
      (needed || says === 'file' || says === 'done') && kind !== undefined,
  );
  const briefed = required.some(({ kind, required: needed }) => kind === 'brief' && needed);
  const asked =
    workers.for('readiness', false) === undefined || (locations.v4 && !locations.v6)
      ? order.filter((kind) => kind !== 'readiness')
      : order;
  return briefed ? ['brief', ...asked] : asked;
}

/** How to begin in a project that has nothing yet. */
function beginnings({ brownfield }: Report, workers: Workers, v4: boolean): Action[] {
  const steps: [Work, string, string, boolean][] = [
    ['begin', 'Choose a track and write the list of workflows', 'this version of BMAD starts with it', false],
    ...(brownfield
      ? ([['document code', 'Document the existing code', 'there is code but no plan', false]] as [
          Work,
          string,
          string,
          boolean,
        ][])
      : []),
    ['brief', 'Write a product brief', 'the project has no BMAD documents yet', false],
    ['prd', 'Write the PRD', 'if the idea is already clear', true],
    ['quick work', 'Build something small right away', 'for a change that needs no plan', true],
    ['brainstorm', 'Brainstorm', 'if the idea is not clear yet', true],
  ];
  return steps.flatMap(([work, what, why, optional]) => {
    const worker = workers.for(work, v4);
    return worker === undefined
      ? []
      : [{ what, why, evidence: [], worker, ...(optional ? { optional: true as const } : {}) }];
  });
}
