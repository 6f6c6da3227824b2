import { plural } from '../../base/text.ts';
import { at, type Evidence, type Item, type ItemKind } from './model.ts';
import type { Report } from './report.ts';
import { rank, type Story } from './stories.ts';
import type { Work, Worker, Workers } from './workers.ts';

/** Something to do, why, and who does it. */
export interface Action {
  what: string;
  why: string;
  evidence: Evidence[];
  worker?: Worker;
  /** What the worker is told. */
  about?: string;
  /** Done with this product itself. */
  operation?: 'reconcile';
  optional?: true;
}

/** How many changes of the ledgers are proposed, which is known to whoever asks. */
export interface Outlook {
  changes: number;
}

/**
 * What to do next, the most pressing first. While stories are under way the order is BMAD's own: go on with what is
 * begun, review what is finished, start what is ready, prepare the next. Before that it is the order of the phases.
 */
export function nextActions(report: Report, workers: Workers, { changes }: Outlook): Action[] {
  const actions: Action[] = [];
  for (const { file, line, broken } of report.broken)
    actions.push({
      what: `Repair ${at({ file, line })}`,
      why: broken,
      evidence: [{ file, ...(line === undefined ? {} : { line }), says: broken }],
      ...withWorker(file.includes('sprint-status') ? workers.for('sprint planning', false) : undefined),
      about: `repair ${file}`,
    });
  if (changes > 0)
    actions.push({
      what: 'Bring the ledgers up to date',
      why: `the files prove ${plural(changes, 'change')} that the ledgers do not have`,
      evidence: report.drift.flatMap(({ evidence }) => evidence).slice(0, 4),
      operation: 'reconcile',
    });
  const stories = storyActions(report, workers);
  const plans = planActions(report, workers);
  const underWay = report.stories.some(({ likely }) => rank(likely) > rank('backlog')) || report.sprint !== undefined;
  return [...actions, ...(underWay ? [...stories, ...plans] : [...plans, ...stories])];
}

function withWorker(worker: Worker | undefined): { worker?: Worker } {
  return worker === undefined ? {} : { worker };
}

/** One action for each stage that has stories, for the first of them. */
function storyActions(report: Report, workers: Workers): Action[] {
  const { stories, sprint, files } = report;
  const actions: Action[] = [];
  const push = (what: string, why: string, story: Story, work: Work): void => {
    const worker = workers.for(work, story.file?.v4 ?? (report.locations.v4 && !report.locations.v6));
    const about = story.file === undefined || worker?.command === undefined ? story.id : story.file.file;
    actions.push({ what, why, evidence: evidenceOf(story, sprint?.file), ...withWorker(worker), about });
  };
  const of = (status: string): Story[] => stories.filter(({ likely }) => likely === status);
  const count = (found: readonly Story[]): string => (found.length > 1 ? ` (and ${found.length - 1} more)` : '');
  for (const story of of('in-progress').slice(0, 1))
    push(`Go on with story ${story.id}`, `it is in progress${tasks(story)}${count(of('in-progress'))}`, story, 'develop story');
  for (const spec of files.specs)
    if (spec.status !== undefined && spec.status !== 'done')
      actions.push({
        what: `${rank(spec.status) < rank('in-progress') ? 'Build' : 'Go on with'} ${spec.slug}`,
        why: `its spec is ${spec.word ?? spec.status}`,
        evidence: [{ file: spec.file, ...(spec.line === undefined ? {} : { line: spec.line }), says: spec.word ?? '' }],
        ...withWorker(workers.for(spec.status === 'review' ? 'review story' : 'quick work', false)),
        about: spec.file,
      });
  for (const story of of('review').slice(0, 1)) reviewAction(story, count(of('review')), push);
  for (const story of of('ready-for-dev').slice(0, 1))
    push(`Build story ${story.id}`, `it is ready for development${count(of('ready-for-dev'))}`, story, 'develop story');
  for (const story of of('drafted').slice(0, 1)) {
    const approves = workers.for('approve story', story.file?.v4 ?? false) !== undefined;
    push(
      approves ? `Check and approve story ${story.id}` : `Build story ${story.id}`,
      `it is a draft${count(of('drafted'))}`,
      story,
      approves ? 'approve story' : 'develop story',
    );
  }
  actions.push(...backlogActions(report, workers, push));
  return [...actions, ...closingActions(report, workers)];
}

type Push = (what: string, why: string, story: Story, work: Work) => void;

function reviewAction(story: Story, more: string, push: Push): void {
  const { gate, id } = story;
  if (gate === undefined) push(`Review story ${id}`, `its implementation waits for a review${more}`, story, 'review story');
  else if (/^(?:PASS|WAIVED)$/.test(gate.gate))
    push(`Set story ${id} to Done`, `its gate says ${gate.gate} (${at(gate)}); the owner decides`, story, 'close story');
  else push(`Work on the findings of story ${id}`, `its gate says ${gate.gate} (${at(gate)})`, story, 'apply review');
}

/** The next story that is only planned; before it, what the early alphas ask for its epic. */
function backlogActions({ stories, epics, files, sprint }: Report, workers: Workers, push: Push): Action[] {
  const [story] = stories.filter(({ likely }) => likely === 'backlog');
  if (story === undefined || (sprint === undefined && stories.every(({ file }) => file === undefined))) return [];
  const actions: Action[] = [];
  const epic = epics.find(({ epic: number }) => number === story.epic);
  const context = workers.for('epic context', false);
  const hasContext = files.epicContexts.some(({ epic: number }) => number === story.epic);
  if (context !== undefined && epic?.row?.means === 'backlog' && !hasContext && sprint !== undefined)
    actions.push({
      what: `Write the technical context of epic ${story.epic}`,
      why: `epic-${story.epic} is backlog, and this version wants its context before stories`,
      evidence: [{ file: sprint.file, line: epic.row.line, says: epic.row.word }],
      worker: context,
      about: `epic ${story.epic}`,
    });
  push(`Prepare story ${story.id}`, 'it is the first that is only planned', story, 'create story');
  return actions;
}

function closingActions({ epics, sprint, stories }: Report, workers: Workers): Action[] {
  const actions: Action[] = [];
  for (const { epic, retrospective, stories: mine } of epics) {
    const done = mine.length > 0 && mine.every(({ likely }) => likely === 'done');
    if (!done || retrospective?.means !== 'optional' || sprint === undefined) continue;
    actions.push({
      what: `Hold the retrospective of epic ${epic}`,
      why: `all ${plural(mine.length, 'story', 'stories')} of it are done`,
      evidence: [{ file: sprint.file, line: retrospective.line, says: retrospective.word }],
      ...withWorker(workers.for('retrospective', false)),
      about: `epic ${epic}`,
      ...(stories.every(({ likely }) => likely === 'done') ? {} : { optional: true as const }),
    });
    break;
  }
  const open = sprint?.actionItems.filter(({ status }) => status === 'open' || status === 'in-progress') ?? [];
  const [first] = open;
  if (first !== undefined && sprint !== undefined)
    actions.push({
      what: `Action item of epic ${first.epic}: ${first.action.slice(0, 100)}`,
      why: `${plural(open.length, 'action item')} of retrospectives ${open.length === 1 ? 'is' : 'are'} open`,
      evidence: [{ file: sprint.file, line: first.line, says: first.status }],
      optional: true,
    });
  return actions;
}

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
function planActions(report: Report, workers: Workers): Action[] {
  const { items, stories, sprint, locations, workflows } = report;
  const v4 = locations.v4 && !locations.v6;
  const actions: Action[] = [];
  const heads = (kind: ItemKind): Item | undefined => items.find((item) => item.kind === kind && item.id === kind);
  const isOpen = (kind: ItemKind): boolean => !['complete', 'skipped'].includes(heads(kind)?.state ?? 'not started');
  const act = (kind: ItemKind, verb: string, why: string, evidence: Evidence[], optional = false): void => {
    const work = kind === 'spec' ? 'tech spec' : (kind as Work);
    const worker = workers.for(work, v4);
    const name = kind === 'epics' && worker?.command === '*shard-prd' ? 'the shards of the PRD' : (NAMES[kind] ?? kind);
    actions.push({ what: `${verb} ${name}`, why, evidence, ...withWorker(worker), ...(optional ? { optional: true as const } : {}) });
  };
  for (const item of items)
    if (item.state === 'in progress' && NAMES[item.kind] !== undefined && item.phase !== 'implementation') {
      const [first] = item.evidence;
      act(item.kind, item.kind === 'readiness' ? 'Repeat' : 'Finish', first === undefined ? item.state : `${first.says} (${at(first)})`, item.evidence);
    }
  const begun = items.some(({ state }) => state !== 'not started') || report.files.specs.length > 0;
  if (!begun && sprint === undefined) return beginnings(report, workers, v4);
  const quick = !isOpen('spec') && isOpen('prd');
  const order = neededOrder(report, workers, quick);
  const missing = order.find((kind) => heads(kind)?.state !== 'in progress' && isOpen(kind));
  const hasWork = stories.some(({ file, row }) => file !== undefined || row !== undefined) || report.files.specs.length > 0;
  const hasDraft = actions.length > 0;
  if (missing !== undefined && heads(missing)?.state === 'unknown') {
    const [first] = heads(missing)?.evidence ?? [];
    act(missing, 'Look at', first === undefined ? 'it cannot be read' : `${first.says} (${at(first)})`, heads(missing)?.evidence ?? []);
  } else if (missing !== undefined && !(missing === 'readiness' && workers.for('readiness', v4) === undefined)) {
    const before = order[order.indexOf(missing) - 1];
    const proof = before === undefined ? [] : (heads(before)?.evidence ?? []);
    const [deciding] = heads(missing)?.evidence ?? [];
    const why = deciding !== undefined ? `${deciding.says} (${at(deciding)})` : before === undefined || heads(before)?.state !== 'complete' ? 'there is none yet' : `${NAMES[before] ?? before} ${before === 'epics' ? 'are' : 'is'} complete${proof[0] === undefined ? '' : ` (${at(proof[0])})`}, and this comes next`;
    act(missing, missing === 'readiness' ? 'Run' : 'Write', why, deciding === undefined ? proof : [deciding], hasWork || hasDraft);
  } else if (missing === undefined && sprint === undefined && !stories.some(({ file }) => file !== undefined) && report.broken.length === 0) {
    const [proof] = heads(order.at(-1) ?? 'epics')?.evidence ?? [];
    actions.push({
      what: v4 ? 'Draft the first story' : 'Plan the sprint',
      why: `${quick ? 'the spec is' : 'the plan is'} complete${proof === undefined ? '' : ` (${at(proof)})`}, and there is no ledger of stories`,
      evidence: proof === undefined ? [] : [proof],
      ...withWorker(workers.for('sprint planning', v4)),
    });
  }
  const uxWanted = heads('ux')?.state === 'not started' && !isOpen('prd') && isOpen('architecture');
  if (uxWanted) act('ux', 'Design', 'only if the product has a user interface', workflows === undefined ? [] : ledgerLine(report, 'ux'), true);
  return actions;
}

function ledgerLine({ workflows }: Report, kind: ItemKind): Evidence[] {
  const row = workflows?.rows.find((other) => other.kind === kind);
  return row === undefined || workflows === undefined ? [] : [{ file: workflows.file, line: row.line, says: row.word }];
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
  const required = (workflows?.rows ?? []).filter(({ required: needed, says, kind }) => (needed || says === 'file' || says === 'done') && kind !== undefined);
  const briefed = required.some(({ kind, required: needed }) => kind === 'brief' && needed);
  const asked = workers.for('readiness', false) === undefined || (locations.v4 && !locations.v6) ? order.filter((kind) => kind !== 'readiness') : order;
  return briefed ? ['brief', ...asked] : asked;
}

/** How to begin in a project that has nothing yet. */
function beginnings({ brownfield }: Report, workers: Workers, v4: boolean): Action[] {
  const steps: [Work, string, string, boolean][] = [
    ['begin', 'Choose a track and write the list of workflows', 'this version of BMAD begins with it', false],
    ...(brownfield
      ? ([['document code', 'Describe the code that is there', 'there is code and no plan', false]] as [Work, string, string, boolean][])
      : []),
    ['brief', 'Write a product brief', 'nothing of BMAD is written here yet', false],
    ['prd', 'Write the PRD', 'when the idea is clear already', true],
    ['quick work', 'Build something small at once', 'for a change that needs no plan', true],
    ['brainstorm', 'Brainstorm', 'when the idea is not clear yet', true],
  ];
  return steps.flatMap(([work, what, why, optional]) => {
    const worker = workers.for(work, v4);
    return worker === undefined ? [] : [{ what, why, evidence: [], worker, ...(optional ? { optional: true as const } : {}) }];
  });
}

function tasks({ file }: Story): string {
  return file === undefined || file.tasks.total === 0 ? '' : `, ${file.tasks.done} of ${file.tasks.total} tasks done`;
}

function evidenceOf({ row, file, planned }: Story, ledger: string | undefined): Evidence[] {
  return [
    ...(row === undefined || ledger === undefined ? [] : [{ file: ledger, line: row.line, says: row.word }]),
    ...(file === undefined ? [] : [{ file: file.file, ...(file.line === undefined ? {} : { line: file.line }), says: file.word ?? '' }]),
    ...(row !== undefined || file !== undefined || planned === undefined ? [] : [{ file: planned.file, line: planned.line, says: 'planned' }]),
  ];
}
