import { plural, t } from '../message.ts';
import type { VNode } from 'preact';
import type { Drift, Next, ProgressItem } from '../answers.ts';
import { useActivity, useAnswer, useNames, useNext } from '../loading.ts';
import { Actions } from '../parts/actions.tsx';
import { Choice } from '../parts/choice.tsx';
import { Diff } from '../parts/diff.tsx';
import { saidOfIt } from '../parts/patterns.ts';
import { Empty, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { inLine } from '../parts/visible.ts';
import { Badge, Fold, Pips } from '../parts/work.tsx';
import { address, refine, route } from '../router.ts';
import { words } from '../words.ts';
import { BoardCharts } from './board-charts.tsx';
import { StoryPanel } from './story.tsx';

/** Stories of every ledger in columns, in the order of work; one opens beside them. */
export function Board(): VNode {
  const loaded = useNext();
  const [open] = route.value.rest;
  const stories = (loaded.data?.items ?? []).filter(({ kind }) => kind === 'story');
  const epics = new Set(stories.flatMap(({ epic }) => epic ?? []));
  const totals = loaded.data?.totals;
  return (
    <div class={open === undefined ? '' : 'opened'}>
      <Heading
        title={t`Board`}
        lead={totals === undefined ? undefined : words.value.next.lead(totals.done, totals.stories)}
      >
        <EpicChoice epics={[...epics].sort()} />
      </Heading>
      <Shown loaded={loaded}>
        {(data) => (
          <>
            {stories.length === 0 ? (
              <Empty
                title={t`No ledger and no story files yet.`}
                how={t`They come with the epics and the sprint plan.`}
              />
            ) : (
              <>
                <Proposal onDone={loaded.reload} />
                <Columns stories={stories} data={data} open={open} />
                <BoardCharts />
              </>
            )}
            <Unread items={unreadOf(data.troubles)} />
          </>
        )}
      </Shown>
      {open === undefined ? null : <StoryPanel key={open} story={open} next={loaded} />}
    </div>
  );
}

function EpicChoice({ epics }: { epics: readonly string[] }): VNode | null {
  if (epics.length < 2) return null;
  return (
    <Choice
      parts
      label={t`Epic`}
      now={route.value.query.get('epic') ?? ''}
      among={[['', t`all`], ...epics.map((epic) => [epic, t`epic ${inLine(epic, 40)}`] as const)]}
      onChoose={(epic) => refine({ epic })}
    />
  );
}

/** More cards in a column than this are a list, which `next` has. */
const MOST_CARDS = 200;

function Columns(of: { stories: readonly ProgressItem[]; data: Next; open: string | undefined }): VNode {
  const epic = route.value.query.get('epic');
  const wanted = of.stories.filter((story) => epic === null || story.epic === epic);
  const drift = new Map(of.data.drift.map((each) => [each.about, each]));
  const working = new Map(
    useActivity().data?.work.flatMap(({ story, agent }) => (story === undefined ? [] : [[story, agent]])),
  );
  return (
    <div class="cols">
      {Object.entries(of.data.columns ?? {}).map(([column, name]) => {
        const own = wanted.filter((story) => story.column === column);
        return (
          <section
            class={`col ${own.length === 0 ? 'zero' : ''}`}
            key={column}
            aria-label={`${inLine(name)}, ${own.length}`}
          >
            <h2>
              {inLine(name)} <span>{own.length}</span>
            </h2>
            {own.slice(0, MOST_CARDS).map((story) => (
              <Card
                key={`${story.id} ${story.evidence[0]?.file ?? ''}`}
                story={story}
                isOpen={story.id === of.open}
                drift={drift.get(story.id)}
                agent={working.get(story.id)}
              />
            ))}
            {own.length > MOST_CARDS ? <p class="soft">{t`and ${own.length - MOST_CARDS} more`}</p> : null}
          </section>
        );
      })}
    </div>
  );
}

function Card(of: {
  story: ProgressItem;
  isOpen: boolean;
  drift: Drift | undefined;
  agent: string | undefined;
}): VNode {
  const { story, drift } = of;
  const { id, number = '', title = id, tasks } = story;
  const nameOf = useNames();
  const agent = nameOf(of.agent);
  const epic = route.value.query.get('epic') ?? undefined;
  return (
    <a
      class="card"
      data-entry
      href={address('board', [id], { epic })}
      aria-current={of.isOpen ? 'true' : undefined}
    >
      <p>
        <i>{inLine(number, 20)}</i>{' '}
        {inLine(title.startsWith(`${number} `) ? title.slice(number.length + 1) : title, 160)}
      </p>
      {tasks === undefined && agent === '' ? null : (
        <small>
          {tasks === undefined ? null : <Pips done={tasks.done} total={tasks.total} />}
          {agent === '' ? null : <Badge name={agent} />}
        </small>
      )}
      {drift === undefined ? null : <span class="tell">{inLine(saidOfIt(id, drift.says), 120)}</span>}
    </a>
  );
}

/** What the files prove and no ledger has yet: a change of a file, shown as one before anybody makes it. */
function Proposal({ onDone }: { onDone: () => void }): VNode | null {
  const loaded = useAnswer('reconcile_ledgers', { apply: false }, ['progress']);
  const { ledgers = [], proposal, broken = [] } = loaded.data ?? {};
  const count = ledgers.flatMap(({ changes }) => changes).length;
  if (count + broken.length === 0 && loaded.problem === undefined) return null;
  const writing = { operation: 'reconcile_ledgers', args: { apply: true, proposal }, asks: true };
  return (
    <div class="note">
      <Shown loaded={loaded}>{() => <Unread items={unreadOf(broken)} />}</Shown>
      {count === 0 ? null : (
        <Fold
          title={plural(
            count,
            'change that the files prove is missing from the ledgers',
            'changes that the files prove are missing from the ledgers',
          )}
        >
          {ledgers.map(({ file, diff, changes }) => (
            <div key={file}>
              <Diff text={diff} title={file} note={String(changes.length)} />
              <ul class="reasons">
                {changes.map(({ key, why }) => (
                  <li key={key}>
                    <b>{inLine(key)}</b> <span class="soft">{inLine(why)}</span>
                  </li>
                ))}
              </ul>
            </div>
          ))}
          <Actions
            about={t`Proposed change`}
            actions={[{ label: t`Write these lines`, ...writing }]}
            onDone={() => [loaded.reload, onDone].forEach((each) => each())}
          />
        </Fold>
      )}
    </div>
  );
}
