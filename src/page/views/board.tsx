import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Drift, Next, ProgressItem } from '../answers.ts';
import { useActivity, useAnswer, useNames, useNext } from '../loading.ts';
import { day, number, plural, t } from '../message.ts';
import { Actions } from '../parts/actions.tsx';
import { Choice } from '../parts/choice.tsx';
import { Columns } from '../parts/columns.tsx';
import { Diff } from '../parts/diff.tsx';
import { saidOfIt, inLine } from '../parts/wording.ts';
import { Empty, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
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
                <Stories stories={stories} data={data} open={open} />
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

function Stories(of: { stories: readonly ProgressItem[]; data: Next; open: string | undefined }): VNode {
  const epic = route.value.query.get('epic');
  const [dragged, drag] = useState<string | undefined>(undefined);
  const wanted = of.stories.filter((story) => epic === null || story.epic === epic);
  const drift = new Map(of.data.drift.map((each) => [each.about, each]));
  const working = new Map(
    useActivity().data?.work.flatMap(({ story, agent }) => (story === undefined ? [] : [[story, agent]])),
  );
  const dropped =
    dragged === undefined
      ? undefined
      : (column: string): void => {
          // What it would write is shown before it is written, as with a status that is chosen.
          go(address('board', [dragged], { epic: epic ?? undefined, to: column }));
          drag(undefined);
        };
  return (
    <Columns
      columns={of.data.columns}
      stories={wanted}
      most={MOST_CARDS}
      onDrop={dropped}
      card={(story) => (
        <Card
          key={`${story.id} ${story.evidence[0]?.file ?? ''}`}
          story={story}
          isOpen={story.id === of.open}
          drift={drift.get(story.id)}
          agent={working.get(story.id)}
          onDrag={drag}
        />
      )}
    />
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
  const { id, number: place = '', title = id, tasks } = story;
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
        <i>{inLine(place, 20)}</i>{' '}
        {inLine(title.startsWith(`${place} `) ? title.slice(place.length + 1) : title, 160)}
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

interface Point {
  /** What stands below the first and the last one, and is said of each. */
  label: string;
  value: number;
}

const [WIDTH, HEIGHT, FOOT, LEFT] = [600, 110, 16, 44];
/** Fewer points say less than a sentence does. */
const LEAST_POINTS = 8;

/** A bar for each point, with what the highest is; the first and the last are named below. */
function Bars(of: { title: string; unit: string; points: readonly Point[] }): VNode {
  const { title, unit, points } = of;
  const most = Math.max(...points.map(({ value }) => value)) || 1;
  const step = (WIDTH - LEFT) / points.length;
  const says = points.map(({ label, value }) => `${label} ${number(value)}`).join(', ');
  const y = (value: number): number => HEIGHT - (value / most) * (HEIGHT - 12);
  return (
    <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT + FOOT}`} role="img" aria-label={`${title}: ${says}`}>
      <line x1={LEFT} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} class="axis" />
      <line x1={LEFT} x2={WIDTH} y1={y(most)} y2={y(most)} class="axis" />
      <text x={LEFT - 6} y={y(most) + 4} text-anchor="end">{`${number(most)} ${unit}`}</text>
      {points.map(({ label, value }, index) => (
        <rect
          key={`${index} ${label}`}
          x={LEFT + index * step + step * 0.15}
          y={Math.min(y(value), HEIGHT - 1)}
          width={step * 0.7}
          height={Math.max(1, HEIGHT - y(value))}
        >
          <title>{`${label}: ${number(value)} ${unit}`}</title>
        </rect>
      ))}
      <text x={LEFT} y={HEIGHT + 13}>
        {points[0]?.label}
      </text>
      <text x={WIDTH} y={HEIGHT + 13} text-anchor="end">
        {points.at(-1)?.label}
      </text>
    </svg>
  );
}
