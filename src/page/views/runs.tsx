import type { VNode } from 'preact';
import type { Run, RunStatus } from '../answers.ts';
import { useActivity, useAnswer, useNames } from '../loading.ts';
import { PasteLine } from '../parts/hosts.tsx';
import { Empty, Group, Heading, Shown, Unread, unreadOf, When } from '../parts/shown.tsx';
import { Exact, Reasons } from '../parts/texts.tsx';
import { dotted, inLine } from '../parts/wording.ts';
import { Fold, standingOf, StepStrip } from '../parts/work.tsx';
import { address, route } from '../router.ts';
import { age, clock, dayName, moment, plural, t } from '../message.ts';
import { stateOf } from '../words.ts';

/** Runs of workflows: how far each is, what it wrote, and how to go on. */
export function Runs(): VNode {
  const [, id] = route.value.rest;
  const loaded = useAnswer(
    'get_workflow_status',
    { journal: true, ...(id === undefined ? {} : { run_id: id }) },
    ['runs'],
  );
  const { data } = loaded;
  const all = (data?.others.length ?? 0) + (data?.run === undefined ? 0 : 1);
  return (
    <>
      <Heading title={t`Runs`} lead={all === 0 ? undefined : t`${plural(all, 'run')} in this branch.`} />
      <Shown loaded={loaded}>
        {(found) => (
          <>
            {found.run === undefined ? (
              <Empty
                title={t`No workflow has been run yet.`}
                how={t`A run opens when an agent starts a workflow with steps.`}
              />
            ) : (
              <One key={found.run.run_id} run={found.run} journal={found.journal ?? []} />
            )}
            <Others others={found.others} />
            <Unread
              items={unreadOf([...found.problems, ...(found.run?.problems ?? [])], found.run?.run_id)}
            />
          </>
        )}
      </Shown>
    </>
  );
}

/** Of how many is said only where that is known. */
function stepsOf({ progress: { completed, total } }: Pick<Run, 'progress'>): string {
  return total === undefined
    ? plural(completed, 'step done', 'steps done')
    : t`${completed} of ${plural(total, 'step')}`;
}

function One({ run, journal }: { run: Run; journal: NonNullable<RunStatus['journal']> }): VNode {
  const nameOf = useNames();
  const own = useActivity().data?.work.find(({ id }) => id === run.run_id);
  const open = run.status === 'running' || run.status === 'paused' || run.status === 'pending';
  const { total } = run.progress;
  return (
    <section>
      <div class="panel">
        <p class="why">
          {dotted(
            stateOf(run.status),
            nameOf(run.agent),
            stepsOf(run),
            t`last checkpoint ${age(run.last_checkpoint)}`,
          )}
        </p>
        <h2>{inLine(run.served ?? run.workflow ?? run.run_id, 120)}</h2>
        {own?.story === undefined ? null : (
          <p>
            <a href={address('board', [own.story])}>{inLine(own.story, 80)}</a>
          </p>
        )}
        {total === undefined || total === 0 ? null : (
          <StepStrip done={run.progress.completed} total={total} names={own?.steps} />
        )}
        {own === undefined || !open ? null : (
          <p class="soft">{dotted(...standingOf({ ...own, note: undefined }))}</p>
        )}
        {run.agent_notes === undefined || run.agent_notes === '' ? null : (
          <Exact text={run.agent_notes} label={t`Noted at the last checkpoint`} />
        )}
        {open && run.aside?.kind !== 'dead' ? (
          <div data-next>
            <h3>{t`How to continue`}</h3>
            <PasteLine
              start={{ operation: 'run_resume', args: { run_id: run.run_id } }}
              prompt={undefined}
              main
            />
          </div>
        ) : null}
        <Fold title={t`Details`}>
          <p class="proof">
            {inLine(run.run_id)} · {t`Branch`} {inLine(run.branch)} · {moment(run.started_at)} ·{' '}
            {inLine(run.folder)}
          </p>
        </Fold>
      </div>
      {run.artefacts.length === 0 ? null : (
        <>
          <Group title={t`Artefacts`} count={run.artefacts.length} />
          <Reasons
            items={run.artefacts.map(({ name, path, step, exists }) =>
              dotted(name, exists ? '' : t`missing`, step === undefined ? '' : String(step), path),
            )}
          />
        </>
      )}
      <Journal journal={journal} />
    </section>
  );
}

function Journal({ journal }: { journal: NonNullable<RunStatus['journal']> }): VNode | null {
  if (journal.length === 0) return null;
  return (
    <>
      <Group title={t`Journal`} count={journal.length} />
      <ol class="stream">
        {journal.toReversed().map(({ seq, at, event, step, notes }) => (
          <li key={seq}>
            <When at={String(at)} as={clock} />
            <span>
              {typeof step === 'number' ? t`Step ${step} done` : stateOf(String(event))}
              <small>
                {dotted(dayName(String(at)), inLine(typeof notes === 'string' ? notes : '', 400))}
              </small>
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}

function Others({ others }: { others: RunStatus['others'] }): VNode | null {
  if (others.length === 0) return null;
  return (
    <section>
      <Group title={t`Other runs`} count={others.length} />
      <ul class="list entries">
        {others.map((run) => (
          <li key={run.run_id}>
            <a data-entry href={address('now', ['runs', run.run_id])}>
              <span class="what">{inLine(run.run_id, 80)}</span>
              <span class="why" title={moment(run.last_checkpoint)}>
                {stateOf(run.status)} · {stepsOf(run)} · {age(run.last_checkpoint)}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
