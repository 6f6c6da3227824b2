import { plural } from '../../base/text/text.ts';
import { withWorker, type Action } from './action.ts';
import { at, type Evidence } from './model.ts';
import type { Report } from './report.ts';
import { isDisputed, isDone, rank, type Story } from './stories.ts';
import type { Work, Workers } from './workers.ts';

/** One action for each stage that has stories, for the first of them. */
export function storyActions(report: Report, workers: Workers): Action[] {
  const { stories, sprint, files } = report;
  const actions: Action[] = [];
  const push = (what: string, why: string, story: Story, work: Work): void => {
    const worker = workers.for(work, story.file?.v4 ?? (report.locations.v4 && !report.locations.v6));
    const about = story.file === undefined || worker?.command === undefined ? story.id : story.file.file;
    actions.push({ what, why, evidence: evidenceOf(story, sprint?.file), ...withWorker(worker), about });
  };
  const of = (status: string): Story[] => stories.filter(({ likely }) => likely === status);
  const count = (found: readonly Story[]): string =>
    found.length > 1 ? ` (and ${found.length - 1} more)` : '';
  for (const story of of('in-progress').slice(0, 1))
    push(
      `Continue story ${story.id}`,
      `it is in progress${tasks(story)}${count(of('in-progress'))}`,
      story,
      'develop story',
    );
  for (const spec of files.specs)
    if (spec.status !== undefined && spec.status !== 'done')
      actions.push({
        what: `${rank(spec.status) < rank('in-progress') ? 'Build' : 'Continue'} ${spec.slug}`,
        why: `its spec is ${spec.word ?? spec.status}`,
        evidence: [
          { file: spec.file, ...(spec.line === undefined ? {} : { line: spec.line }), says: spec.word ?? '' },
        ],
        ...withWorker(workers.for(spec.status === 'review' ? 'review story' : 'quick work', false)),
        about: spec.file,
      });
  for (const story of of('review').slice(0, 1)) reviewAction(story, count(of('review')), push);
  for (const story of of('ready-for-dev').slice(0, 1))
    push(
      `Build story ${story.id}`,
      `it is ready for development${count(of('ready-for-dev'))}`,
      story,
      'develop story',
    );
  for (const story of of('drafted').slice(0, 1)) {
    const approves = workers.for('approve story', story.file?.v4 ?? false) !== undefined;
    push(
      approves ? `Check and approve story ${story.id}` : `Build story ${story.id}`,
      `it is a draft${count(of('drafted'))}`,
      story,
      approves ? 'approve story' : 'develop story',
    );
  }
  actions.push(...epicContextActions(report, workers));
  backlogAction(report, push);
  const disputed = stories.filter(isDisputed);
  for (const story of disputed.slice(0, 1))
    actions.push({
      what: `Decide whether story ${story.id} is done`,
      why: `the ledger says ${story.row?.word ?? 'done'}, its file ${story.file?.word ?? 'does not'}; correct whichever is wrong${count(disputed)}`,
      evidence: evidenceOf(story, sprint?.file),
      about: story.id,
    });
  return [...actions, ...closingActions(report, workers)];
}

type Push = (what: string, why: string, story: Story, work: Work) => void;

function reviewAction(story: Story, more: string, push: Push): void {
  const { gate, id } = story;
  if (gate === undefined)
    push(`Review story ${id}`, `its implementation is waiting for review${more}`, story, 'review story');
  else if (/^(?:PASS|WAIVED)$/.test(gate.gate))
    push(
      `Set story ${id} to Done`,
      `its gate says ${gate.gate} (${at(gate)}); the owner decides`,
      story,
      'close story',
    );
  else
    push(
      `Address the review findings for story ${id}`,
      `its gate says ${gate.gate} (${at(gate)})`,
      story,
      'apply review',
    );
}

/** The next story that is only planned; nothing where nobody has begun to keep stories. */
function nextPlanned({ stories, sprint }: Report): Story | undefined {
  if (sprint === undefined && stories.every(({ file }) => file === undefined)) return undefined;
  return stories.find(({ likely }) => likely === 'backlog');
}

function backlogAction(report: Report, push: Push): void {
  const story = nextPlanned(report);
  if (story !== undefined)
    push(`Prepare story ${story.id}`, 'it is the next planned story', story, 'create story');
}

/** The early alphas ask for the technical context of an epic before its first story. */
function epicContextActions(report: Report, workers: Workers): Action[] {
  const { epics, files, sprint } = report;
  const story = nextPlanned(report);
  const row = epics.find(({ epic }) => epic === story?.epic)?.row;
  const worker = workers.for('epic context', false);
  if (story === undefined || worker === undefined || sprint === undefined || row?.means !== 'backlog')
    return [];
  if (files.epicContexts.some(({ epic }) => epic === story.epic)) return [];
  return [
    {
      what: `Write the technical context of epic ${story.epic}`,
      why: `epic-${story.epic} is in the backlog, and this version writes the context before the stories`,
      evidence: [{ file: sprint.file, line: row.line, says: row.word }],
      worker,
      about: `epic ${story.epic}`,
    },
  ];
}

function closingActions({ epics, sprint, stories }: Report, workers: Workers): Action[] {
  const actions: Action[] = [];
  for (const { epic, retrospective, stories: mine } of epics) {
    // By the ledger, as stories are counted: one that is behind is brought up to date first.
    const done = mine.length > 0 && mine.every(isDone);
    if (!done || retrospective?.means !== 'optional' || sprint === undefined) continue;
    actions.push({
      what: `Hold the retrospective for epic ${epic}`,
      why: mine.length === 1 ? 'its only story is done' : `all its ${mine.length} stories are done`,
      evidence: [{ file: sprint.file, line: retrospective.line, says: retrospective.word }],
      ...withWorker(workers.for('retrospective', false)),
      about: `epic ${epic}`,
      ...(stories.every(isDone) ? {} : { optional: true as const }),
    });
    break;
  }
  const open =
    sprint?.actionItems.filter(({ status }) => status === 'open' || status === 'in-progress') ?? [];
  const [first] = open;
  if (first !== undefined && sprint !== undefined)
    actions.push({
      what: `Action item from epic ${first.epic}: ${first.action.slice(0, 100)}`,
      why: `${plural(open.length, 'action item')} from retrospectives ${open.length === 1 ? 'is' : 'are'} open`,
      evidence: [{ file: sprint.file, line: first.line, says: first.status }],
      optional: true,
    });
  return actions;
}

function tasks({ file }: Story): string {
  return file === undefined || file.tasks.total === 0
    ? ''
    : `, ${file.tasks.done} of ${plural(file.tasks.total, 'task')} done`;
}

function evidenceOf({ row, file, planned }: Story, ledger: string | undefined): Evidence[] {
  return [
    ...(row === undefined || ledger === undefined ? [] : [{ file: ledger, line: row.line, says: row.word }]),
    ...(file === undefined
      ? []
      : [
          { file: file.file, ...(file.line === undefined ? {} : { line: file.line }), says: file.word ?? '' },
        ]),
    ...(row !== undefined || file !== undefined || planned === undefined
      ? []
      : [{ file: planned.file, line: planned.line, says: 'planned' }]),
  ];
}
