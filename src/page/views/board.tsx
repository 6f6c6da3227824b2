import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Drift, Next, ProgressItem } from '../answers.ts';
import { useActivity, useAnswer, useNames, useNext } from '../loading.ts';
import { day, plural, t } from '../message.ts';
import { Actions } from '../parts/actions.tsx';
import { Bars, LEAST_POINTS } from '../parts/chart.tsx';
import { Choice } from '../parts/choice.tsx';
import { Diff } from '../parts/diff.tsx';
import { saidOfIt } from '../parts/patterns.ts';
import { Empty, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { inLine } from '../parts/visible.ts';
import { Badge, Fold, Pips } from '../parts/work.tsx';
import { address, go, queried, refine, route } from '../router.ts';
import { words } from '../words.ts';
import { StoryPanel } from './story.tsx';

/** Stories of every ledger in columns, in the order of work; one opens beside them. */
export function Board(): VNode {
  const loaded = useNext();
  const [open] = route.value.rest;
  const stories = (loaded.data?.items ?? []).filter(({ kind }) => kind === 'story');
  const totals = loaded.data?.totals;
  return (
    <div class={open === undefined ? '' : 'opened'}>
      <Heading
        title={t`Board`}
        lead={totals === undefined ? undefined : words.value.next.lead(totals.done, totals.stories)}
      >
        <EpicChoice items={loaded.data?.items ?? []} />
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

function EpicChoice({ items }: { items: readonly ProgressItem[] }): VNode | null {
  const titles = new Map(items.filter(({ kind }) => kind === 'epic').map(({ epic, title }) => [epic, title]));
  const own = items.flatMap(({ kind, epic }) => (kind === 'story' && epic !== undefined ? [epic] : []));
  const epics = [...new Set(own)].sort((one, other) => Number(one) - Number(other));
  if (epics.length < 2) return null;
  const nameOf = (epic: string): string =>
    titles.has(epic) ? `${epic} ${inLine(titles.get(epic) ?? '', 40)}` : t`epic ${inLine(epic, 40)}`;
  return (
    <Choice
      parts
      label={t`Epic`}
      now={queried('epic')}
      among={[['', t`all`], ...epics.map((epic) => [epic, nameOf(epic)] as const)]}
      onChoose={(epic) => refine({ epic })}
    />
  );
}

/** More cards in a column than this are a list, which `next` has. */
const MOST_CARDS = 200;

function Columns(of: { stories: readonly ProgressItem[]; data: Next; open: string | undefined }): VNode {
  const epic = route.value.query.get('epic');
  const [dragged, drag] = useState<string | undefined>(undefined);
  const wanted = of.stories.filter((story) => epic === null || story.epic === epic);
  const drift = new Map(of.data.drift.map((each) => [each.about, each]));
  const working = new Map(
    useActivity().data?.work.flatMap(({ story, agent }) => (story === undefined ? [] : [[story, agent]])),
  );
  return (
    <div class={`cols ${dragged === undefined ? '' : 'open'}`}>
      {Object.entries(of.data.columns ?? {}).map(([column, name]) => {
        const own = wanted.filter((story) => story.column === column);
        return (
          <section
            class={`col ${own.length === 0 ? 'zero' : ''}`}
            key={column}
            aria-label={`${inLine(name)}, ${own.length}`}
            onDragOver={(event) => (dragged === undefined ? undefined : event.preventDefault())}
            onDrop={(event) => {
              event.preventDefault();
              // What it would write is shown before it is written, as with a status that is chosen.
              if (dragged !== undefined)
                go(address('board', [dragged], { epic: epic ?? undefined, to: column }));
              drag(undefined);
            }}
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
                onDrag={drag}
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
  onDrag: (story: string | undefined) => void;
}): VNode {
  const { story, drift, onDrag } = of;
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
      onDragStart={() => onDrag(id)}
      onDragEnd={() => onDrag(undefined)}
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

const MOST_BARS = 60;

/** How long each story took, once there are enough to say something. */
function BoardCharts(): VNode | null {
  const { data } = useAnswer('story_history', {}, ['progress']);
  const timed = (data?.stories ?? []).filter(({ days }) => days !== undefined).slice(-MOST_BARS);
  if (data === undefined || timed.length < LEAST_POINTS) return null;
  const { median_days: median, undated } = data;
  return (
    <Fold title={t`How long stories take`}>
      <Bars
        title={t`Days from begun to done`}
        unit={t`days`}
        points={timed.map(({ title, done, days }) => ({
          label: `${day(done ?? '')} ${title}`,
          value: days ?? 0,
        }))}
      />
      {median === undefined || median === 0 ? null : (
        <p class="soft">{t`Half of the stories took ${plural(median, 'day')} or less.`}</p>
      )}
      {undated === 0 ? null : (
        <p class="soft">{t`No date is known of ${plural(undated, 'story', 'stories')}.`}</p>
      )}
    </Fold>
  );
}
