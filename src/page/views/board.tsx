import type { VNode } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Drift, Next, ProgressItem, Reconciled } from '../answers.ts';
import { useAnswer, type Loaded } from '../loading.ts';
import { Actions } from '../parts/actions.tsx';
import { Diff } from '../parts/diff.tsx';
import { Empty, Group, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { Proofs } from '../parts/texts.tsx';
import { inLine } from '../parts/visible.ts';
import { refine, route } from '../router.ts';
import { words } from '../words.ts';
import { BoardCharts } from './board-charts.tsx';

/** Epics and stories of every ledger, in columns; what disagrees is marked, and its change can be proposed. */
export function Board(): VNode {
  const loaded = useAnswer('next', { detail: 'full' }, ['progress', 'content']);
  const proposed = useAnswer('reconcile_ledgers', { apply: false }, ['progress']);
  const { board } = words.value;
  const items = loaded.data?.items ?? [];
  const stories = items.filter(({ kind }) => kind === 'story');
  const epics = new Set(stories.flatMap(({ epic }) => epic ?? []));
  return (
    <>
      <Heading
        title={board.title}
        lead={loaded.data === undefined ? undefined : board.lead(stories.length, epics.size)}
      >
        <EpicChoice epics={[...epics].sort()} />
      </Heading>
      <Shown loaded={loaded}>
        {(data) => (
          <>
            {stories.length === 0 ? (
              <Empty title={board.empty} how={board.emptyHow} />
            ) : (
              <Columns stories={stories} data={data} proposed={proposed.data} />
            )}
            <Proposal loaded={proposed} onDone={loaded.reload} />
            {stories.length === 0 ? null : <BoardCharts />}
            <Unread items={[...unreadOf(data.troubles), ...unreadOf(proposed.data?.broken)]} />
          </>
        )}
      </Shown>
    </>
  );
}

function EpicChoice({ epics }: { epics: readonly string[] }): VNode | null {
  const { board, shell } = words.value;
  const field = useId();
  if (epics.length < 2) return null;
  return (
    <span class="choice">
      <label for={field}>{board.filter}</label>
      <select
        id={field}
        value={route.value.query.get('epic') ?? ''}
        onChange={(event) => refine({ epic: event.currentTarget.value })}
      >
        <option value="">{shell.all}</option>
        {epics.map((epic) => (
          <option key={epic} value={epic}>
            {inLine(epic, 60)}
          </option>
        ))}
      </select>
    </span>
  );
}

function Columns(of: {
  stories: readonly ProgressItem[];
  data: Next;
  proposed: Reconciled | undefined;
}): VNode {
  const epic = route.value.query.get('epic');
  const wanted = of.stories.filter((story) => epic === null || story.epic === epic);
  const drift = new Map(of.data.drift.map((each) => [each.about, each]));
  const changes = new Map(
    of.proposed?.ledgers.flatMap((ledger) => ledger.changes.map((change) => [change.key, change] as const)),
  );
  return (
    <div class="cols">
      {Object.entries(of.data.columns ?? {}).map(([column, name]) => {
        const own = wanted.filter((story) => story.column === column);
        return (
          <section class="col" key={column} aria-label={`${inLine(name)}, ${own.length}`}>
            <h2>
              {inLine(name)} <span>{own.length}</span>
            </h2>
            {own.slice(0, MOST_CARDS).map((story) => (
              <Card
                key={`${story.id} ${story.evidence[0]?.file ?? ''}`}
                story={story}
                drift={drift.get(story.id)}
                change={changes.get(story.id)}
              />
            ))}
            {own.length > MOST_CARDS ? <p class="soft">+{own.length - MOST_CARDS}</p> : null}
          </section>
        );
      })}
    </div>
  );
}

/** More cards in a column than this are a list, which `next` has. */
const MOST_CARDS = 200;

function Card(of: {
  story: ProgressItem;
  drift: Drift | undefined;
  change: Pick<Reconciled['ledgers'][number]['changes'][number], 'from' | 'to'> | undefined;
}): VNode {
  const { board } = words.value;
  const { story, drift, change } = of;
  const { title = story.id } = story;
  return (
    <article class="card" data-entry tabIndex={0} aria-label={inLine(title, 120)}>
      <p>{inLine(title, 120)}</p>
      <small>
        <span class={drift === undefined ? '' : 'drift'}>
          {drift === undefined
            ? board.epic(inLine(story.epic ?? '', 40))
            : `${board.drift}${change === undefined ? '' : `: ${inLine(change.from ?? '–', 30)} → ${inLine(change.to, 30)}`}`}
        </span>
        <span>{inLine(story.status ?? '', 30)}</span>
      </small>
      <Proofs evidence={drift?.evidence ?? story.evidence.slice(0, 1)} />
      {change === undefined ? null : (
        <a class="go" href="#proposal" onClick={toProposal} data-act={1}>
          {board.propose}
        </a>
      )}
    </article>
  );
}

function toProposal(event: Event): void {
  event.preventDefault();
  const place = document.getElementById('proposal');
  place?.scrollIntoView({ block: 'start' });
  place?.focus();
}

/** A move is a change of a file, so it is shown as one before anybody makes it. */
function Proposal({ loaded, onDone }: { loaded: Loaded<Reconciled>; onDone: () => void }): VNode {
  const { board } = words.value;
  const [open, setOpen] = useState(false);
  return (
    <section id="proposal" tabIndex={-1} aria-label={board.proposal}>
      <Group title={board.proposal} count={loaded.data?.ledgers.flatMap(({ changes }) => changes).length} />
      <Shown loaded={loaded}>
        {({ ledgers, proposal, left }) => (
          <>
            {ledgers.length === 0 ? (
              <p class="soft">{board.noProposal}</p>
            ) : (
              <div data-entry tabIndex={0}>
                {ledgers.map(({ file, diff, changes }) => (
                  <div key={file}>
                    <Diff text={diff} title={file} note={String(changes.length)} />
                    <ul class="reasons">
                      {changes.map(({ key, why }) => (
                        <li key={key}>
                          <b>{inLine(key)}</b> <span class="proof">{inLine(why)}</span>
                        </li>
                      ))}
                    </ul>
                  </div>
                ))}
                {proposal === undefined ? null : (
                  <Actions
                    about={board.proposal}
                    actions={[
                      {
                        label: board.apply,
                        operation: 'reconcile_ledgers',
                        args: { apply: true, proposal },
                      },
                    ]}
                    onDone={() => {
                      loaded.reload();
                      onDone();
                    }}
                  />
                )}
              </div>
            )}
            {left.length === 0 ? null : (
              <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
                <summary>
                  {board.left} ({left.length})
                </summary>
                <ul class="reasons">
                  {left.slice(0, 200).map((each) => (
                    <li key={each}>{inLine(each)}</li>
                  ))}
                </ul>
              </details>
            )}
          </>
        )}
      </Shown>
    </section>
  );
}
