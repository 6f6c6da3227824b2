import { plural, t } from '../../base/text/message.ts';
import type { Step } from '../../base/step.ts';
import { oneLine, placed } from '../../base/text/text.ts';
import type { Report, Story } from './found.ts';
import type { Gate } from './ledgers.ts';
import { type Evidence } from './rules.ts';
import { isDisputed, isDone, isLeftOpen, isUnreviewed, planEvidence, rank } from './stories.ts';
import { type Action, RULES, type Work, type Workers } from './workers.ts';

const BUILD = 'bmad-build';

/** One action for each stage that has stories, for the first of them. */
export function storyActions(report: Report, workers: Workers): Action[] {
  const { stories, sprint, files } = report;
  const actions: Action[] = [];
  const push = (
    what: string,
    why: string,
    story: Story,
    work: Work,
    more: Pick<Action, 'optional' | 'steps'> = {},
  ): void => {
    const worker = workers.for(work, story.file?.v4 ?? report.locations.v4);
    const about = story.file === undefined || worker?.command === undefined ? story.id : story.file.file;
    const evidence = evidenceOf(story, sprint?.file);
    actions.push({ what, why, evidence, worker, about, story: { id: story.id, work }, ...more });
  };
  const first = (found: readonly Story[], act: (story: Story, more: string) => void): void => {
    const [story, ...others] = found;
    if (story !== undefined) act(story, others.length > 0 ? t` (and ${others.length} more)` : '');
  };
  const of = (status: string): Story[] => stories.filter(({ likely }) => likely === status);
  first(of('in-progress'), (story, more) =>
    push(
      t`Continue story ${story.id}`,
      t`it is in progress${tasks(story)}${more}`,
      story,
      RULES['in progress'].work,
    ),
  );
  actions.push(...specActions(files.specs, workers));
  first(of('review'), (story, more) => {
    push(...review(story, more));
    actions.push(...contractActions(report, story));
  });
  first(of('ready-for-dev'), (story, more) =>
    push(
      t`Build story ${story.id}`,
      story.file?.v4 === true
        ? t`it is ${story.file.word ?? 'Approved'}${more}`
        : t`it is ready for development${more}`,
      story,
      RULES.ready.work,
    ),
  );
  first(of('drafted'), (story, more) => {
    const isV4 = story.file?.v4 ?? false;
    const approves = workers.for(RULES.draft.work, isV4) !== undefined;
    push(
      approves ? t`Check and approve story ${story.id}` : t`Build story ${story.id}`,
      t`it is a draft${more}`,
      story,
      approves ? RULES.draft.work : RULES.ready.work,
      // Its own check ends without saying so.
      approves && isV4 ? { steps: [setting(story, t`Once the user approves it`, 'Approved')] } : {},
    );
  });
  first(
    stories.filter(
      ({ row, likely }) =>
        row !== undefined && row.word !== '' && row.means === undefined && likely === undefined,
    ),
    (story, more) =>
      actions.push({
        what: t`Correct the status of story ${story.id}`,
        why: t`its row says "${oneLine(story.row?.word ?? '', 60)}", which is not a status${more}`,
        evidence: evidenceOf(story, sprint?.file),
        about: story.id,
        steps: [setting(story, t`Set it`)],
      }),
  );
  // Before the next one is begun: what is called done may not be.
  first(
    stories.filter((story) => isDone(story) && isLeftOpen(story)),
    (story, more) => {
      const { done = 0, total = 0 } = story.file?.tasks ?? {};
      actions.push({
        what: t`Check whether story ${story.id} is done`,
        why: tickedText(done, plural(total, 'task'), more),
        evidence: evidenceOf(story, sprint?.file),
        about: story.id,
      });
    },
  );
  // The next story that is only planned; none where nobody has begun to keep stories.
  const keeps = sprint !== undefined || stories.some(({ file }) => file !== undefined);
  const planned = keeps ? of('backlog')[0] : undefined;
  if (planned !== undefined) {
    actions.push(...epicContextActions(report, planned.epic, workers));
    // One workflow of newer versions prepares a story and builds it in one go.
    const prepares = workers.for(RULES.planned.work, planned.file?.v4 ?? report.locations.v4);
    const isBuilt = prepares?.record.name === BUILD;
    const open = stories.find(({ likely }) => rank(likely) > rank('backlog') && likely !== 'done');
    push(
      isBuilt ? t`Build story ${planned.id}` : t`Prepare story ${planned.id}`,
      open === undefined
        ? t`it is the next planned story`
        : t`it comes after story ${open.id}, which is not done yet`,
      planned,
      RULES[open === undefined ? 'planned' : 'planned later'].work,
      { optional: open !== undefined },
    );
  }
  first(stories.filter(isDisputed), (story, more) =>
    actions.push({
      what: t`Decide whether story ${story.id} is done`,
      why:
        story.file?.word === undefined
          ? t`the ledger says ${story.row?.word ?? 'done'} and its file does not${more}`
          : t`the ledger says ${story.row?.word ?? 'done'} and its file ${story.file.word}${more}`,
      evidence: evidenceOf(story, sprint?.file),
      about: story.id,
      steps: [setting(story, t`Set both to what is right`)],
    }),
  );
  return [...actions, ...closingActions(report, workers)];
}

function tickedText(done: number, total: string, more: string): string {
  if (done === 0)
    return t`it is called done, but none of its ${total} is ticked; finish it, or tick what has been done${more}`;
  return done === 1
    ? t`it is called done, but only 1 of its ${total} is ticked; finish it, or tick what has been done${more}`
    : t`it is called done, but only ${done} of its ${total} are ticked; finish it, or tick what has been done${more}`;
}

/** Specs that belong to no story. One that is being written is gone on with by who writes it. */
function specActions(specs: Report['files']['specs'], workers: Workers): Action[] {
  return specs.flatMap(({ stem, file, line, word, status }) => {
    if (status === undefined || status === 'done') return [];
    const isDraft = stem.startsWith('tech-spec-') && /^(?:in-progress|review)$/i.test(word ?? '');
    const begun = rank(status) >= rank('in-progress');
    return {
      what: isDraft ? t`Finish ${stem}` : begun ? t`Continue ${stem}` : t`Build ${stem}`,
      why: t`its spec is ${word ?? status}`,
      evidence: [{ file, line, says: word ?? '' }],
      worker: workers.for(RULES[isDraft ? 'tech spec' : 'quick work'].work, false),
      about: file,
    };
  });
}

/** The call that sets the status of a story wherever it stands; which status, the reader knows where none is given. */
function setting({ id }: Story, why: string, status?: string): Step {
  return status === undefined
    ? { operation: 'story_status', args: { story: id }, open: ['status'], why }
    : { operation: 'story_status', args: { story: id, status }, why };
}

type Review = [what: string, why: string, story: Story, work: Work, more?: Pick<Action, 'steps'>];

function review(story: Story, more: string): Review {
  const { gate, id } = story;
  if (gate === undefined)
    return [
      t`Review story ${id}`,
      story.file?.isSpec === true && story.file.status === 'done'
        ? t`its build has checked its own work, but only a separate code review sets the ledger to done${more}`
        : t`its implementation is waiting for review${more}`,
      story,
      RULES.review.work,
    ];
  const says = t`its gate says ${gate.gate} (${placed(gate)})`;
  if (isPassed(gate)) {
    const open = story.file?.review?.open ?? 0;

    return [
      t`Set story ${id} to Done`,
      open === 0 ? says : t`${says}, but the review left ${plural(open, 'item')} unticked; settle that first`,
      story,
      RULES['gate passed'].work,
      { steps: [setting(story, t`Once the owner agrees`, 'Done')] },
    ];
  }
  return gate.outdated
    ? [t`Review story ${id} again`, t`${says}, and the story has been changed since`, story, RULES.fixed.work]
    : [t`Address the review findings for story ${id}`, says, story, RULES.findings.work];
}

/** Whether QA of version 4 lets a story pass. */
const isPassed = ({ gate }: Gate): boolean => /^(?:PASS|WAIVED)$/.test(gate);

/** What proves that a story is done is the project's own script. */
function contractActions({ locations: { contract } }: Report, { id, gate }: Story): Action[] {
  if (contract === undefined || (gate !== undefined && !isPassed(gate))) return [];
  const what = t`Prove that story ${id} is done`;
  return [
    {
      what,
      why: t`${contract} checks the work`,
      evidence: [{ file: contract, says: t`the completion contract` }],
      steps: [{ operation: 'run_completion_contract', args: {}, why: what }],
      optional: true,
    },
  ];
}

/** The early alphas ask for the technical context of an epic before its first story. */
function epicContextActions({ epics, files, sprint }: Report, epic: number, workers: Workers): Action[] {
  const row = epics.find((other) => other.epic === epic)?.row;
  const worker = workers.for(RULES['epic begins'].work, false);
  if (worker === undefined || sprint === undefined || row?.means !== 'backlog') return [];
  if (files.epicContexts.includes(epic)) return [];
  return [
    {
      what: t`Write the technical context of epic ${epic}`,
      why: t`epic-${epic} is in the backlog, and this version writes the context before the stories`,
      evidence: [{ file: sprint.file, line: row.line, says: row.word }],
      worker,
      about: `epic ${epic}`,
    },
  ];
}

function closingActions({ epics, sprint, files }: Report, workers: Workers): Action[] {
  if (sprint === undefined) return [];
  const { file } = sprint;
  const actions: Action[] = files.retrospectives.flatMap(({ file: retro, epic, rejected }): Action[] =>
    rejected === undefined
      ? []
      : [
          {
            what: t`Settle why epic ${epic} was rejected`,
            why: t`its retrospective was held, and its verdict is that the epic has not passed`,
            evidence: [{ file: retro, line: rejected, says: 'rejected' }],
            about: `epic ${epic}`,
          },
        ],
  );
  // By the ledger, as stories are counted: one that is behind is brought up to date first.
  const isHeld = (epic: number): boolean =>
    files.retrospectives.some((retro) => retro.epic === epic && retro.written);
  const done = epics.find(
    (each) =>
      each.stories.length > 0 &&
      each.stories.every(isDone) &&
      each.retrospective?.means === 'optional' &&
      !isHeld(each.epic),
  );
  if (done?.retrospective !== undefined) {
    const { line, word } = done.retrospective;
    const { length } = done.stories;
    actions.push({
      what: t`Hold the retrospective for epic ${done.epic}`,
      why: length === 1 ? t`its only story is done` : t`all ${length} of its stories are done`,
      evidence: [{ file, line, says: word }],
      worker: workers.for(RULES['epic done'].work, false),
      about: `epic ${done.epic}`,
      // BMAD's own word for it in the ledger, in every version that has one.
      optional: true,
    });
  }
  const open = sprint.actionItems.filter(({ status }) => status === 'open' || status === 'in-progress');
  const [item] = open;
  if (item !== undefined)
    actions.push({
      what: t`Settle an action item of epic ${item.epic}`,
      why: open.length === 1 ? t`the only one that is open` : t`one of ${open.length} that are open`,
      says: item.action,
      evidence: [{ file, line: item.line, says: item.status }],
      optional: true,
    });
  return actions;
}

function tasks({ file }: Story): string {
  return file === undefined || file.tasks.total === 0
    ? ''
    : t`, ${file.tasks.done} of ${plural(file.tasks.total, 'task')} done`;
}

function evidenceOf({ row, file, planned }: Story, ledger: string | undefined): Evidence[] {
  if (row === undefined && file === undefined) return planEvidence(planned);
  return [
    ...(row === undefined || ledger === undefined ? [] : [{ file: ledger, line: row.line, says: row.word }]),
    ...(file === undefined ? [] : [{ file: file.file, line: file.line, says: file.word ?? '' }]),
  ];
}

export const inReview = ({ stories }: Report): Story[] =>
  stories.filter((story) => !isDone(story) && story.likely === 'review');

/** Its gate has passed, so that nothing but its status is left. */
export const hasPassed = ({ gate }: Story): boolean => gate !== undefined && isPassed(gate);

/** How many stories are where; what is built and what has been reviewed are told apart. */
export function totalsOf(report: Report) {
  const { stories } = report;
  const done = stories.filter(isDone);
  return {
    stories: stories.length,
    done: done.length,
    waiting_for_review: inReview(report).filter((story) => !hasPassed(story)).length,
    done_without_review: done.filter(isUnreviewed).length,
  };
}

export function workedOn(story: Story) {
  const { id, row, file, gate } = story;
  return {
    id,
    status: row?.word ?? file?.word ?? 'planned',
    done: isDone(story),
    ...(file === undefined ? {} : { place: placed(file) }),
    ...(gate === undefined ? {} : { gate: `${gate.gate} (${placed(gate)})` }),
  };
}
