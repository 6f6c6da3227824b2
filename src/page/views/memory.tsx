import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Answers, Memory as Remembered } from '../answers.ts';
import { ask } from '../api.ts';
import { session } from '../live.ts';
import { useAnswer, useNames } from '../loading.ts';
import { clock, dayName, moment, plural, t } from '../message.ts';
import { Actions } from '../parts/actions.tsx';
import { Choice, SearchField, TextForm } from '../parts/choice.tsx';
import { Diff, differing } from '../parts/diff.tsx';
import { useSettled } from '../parts/settled.ts';
import { Empty, Group, Heading, Pages, Press, Shown, When } from '../parts/shown.tsx';
import { Exact } from '../parts/texts.tsx';
import { tell } from '../parts/notices.tsx';
import { dotted, inLine, visible } from '../parts/wording.ts';
import { Beside, Fold } from '../parts/work.tsx';
import { address, here, queried, refine, route } from '../router.ts';
import { words } from '../words.ts';

const TYPES = ['shared-context', 'decisions', 'agent-learnings', 'failures', 'stories'] as const;

/** What the project remembers: found by words and meaning, corrected, replaced, forgotten, restored. */
export function Memory(): VNode {
  const { kinds } = words.value.memory;
  const stats = useAnswer('memory_stats', {}, ['memory']);
  const counted = stats.data?.live === 0 ? undefined : stats.data;
  const typed = queried('q');
  const settled = useSettled(typed);
  const [id] = route.value.rest;
  const type = queried('type');
  return (
    <div class={id === undefined ? '' : 'opened'}>
      <Heading
        title={t`Memory`}
        lead={counted === undefined ? undefined : t`${plural(counted.live, 'memory', 'memories')}.`}
      >
        <SearchField label={t`Search by words and meaning`} />
      </Heading>
      <Choice
        label={t`Kind`}
        now={type}
        among={[
          ['', t`all`],
          ...TYPES.map(
            (name) => [name, kinds[name] ?? name, counted && (counted.byType[name] ?? 0)] as const,
          ),
        ]}
        onChoose={(name) => refine({ type: name })}
      >
        <label>
          <input
            type="checkbox"
            checked={queried('all') === '1'}
            onChange={(event) => refine({ all: event.currentTarget.checked ? '1' : '' })}
          />{' '}
          {t`Show forgotten and replaced`}
        </label>
      </Choice>
      {settled === '' ? (
        <>
          <Pairs type={type} />
          <All type={type} gone={queried('all') === '1'} />
        </>
      ) : (
        <MemoryHits text={settled} type={type} />
      )}
      {id === undefined ? null : <OneMemory key={id} id={id} />}
    </div>
  );
}

/** A log, day by day; the newest first. */
function All({ type, gone }: { type: string; gone: boolean }): VNode {
  const args = { limit: 50, ...(type === '' ? {} : { type }), ...(gone ? { all: true } : {}) };
  return (
    <Pages operation="memory_list" args={args} topics={['memory']}>
      {({ memories }) => {
        if (memories.length === 0)
          return (
            <Empty
              title={t`Nothing is remembered yet.`}
              how={t`Agents keep decisions, facts and what they have learnt here.`}
            />
          );
        const days = [...new Set(memories.map(({ createdAt }) => dayName(createdAt)))];
        return days.map((day) => (
          <section key={day}>
            <Group title={day} />
            <ul class="log">
              {memories
                .filter(({ createdAt }) => dayName(createdAt) === day)
                .map((each) => (
                  <Line key={`${each.type} ${each.id}`} of={each} text={each.text} />
                ))}
            </ul>
          </section>
        ));
      }}
    </Pages>
  );
}

function MemoryHits({ text, type }: { text: string; type: string }): VNode {
  const asked = { query: text, ...(type === '' ? {} : { type }) };
  const loaded = useAnswer('recall_structured', asked, ['memory']);
  return (
    <Shown loaded={loaded}>
      {({ hits, notes }) => (
        <>
          {hits.length === 0 ? <Empty title={t`Nothing is known about this.`} /> : <Hits hits={hits} />}
          {notes.map((note) => (
            <p class="soft" key={note}>
              {inLine(note, 600)}
            </p>
          ))}
        </>
      )}
    </Shown>
  );
}

const Hits = ({ hits }: { hits: readonly Answers['recall_structured']['hits'][number][] }): VNode => (
  <ul class="log">
    {hits.map((hit) => (
      <Line
        key={`${hit.type} ${hit.id}`}
        of={hit}
        text={hit.snippet}
        why={hit.stored ? '' : (hit.sources[0] ?? '')}
      />
    ))}
  </ul>
);

function Line(of: { of: Omit<Remembered, 'text'>; text: string; why?: string }): VNode {
  const { memory } = words.value;
  const nameOf = useNames();
  const { id, type, agent, createdAt, supersededBy, forgottenAt } = of.of;
  const state = forgottenAt !== undefined ? t`forgotten` : supersededBy === undefined ? '' : t`replaced`;
  const { q, type: asked, all } = Object.fromEntries(route.value.query);
  return (
    <li>
      <a data-entry href={address('memory', [id], { of: type, q, type: asked, all })}>
        <span>{inLine(of.text, 400)}</span>
        <small title={moment(createdAt)}>
          {dotted(
            memory.oneKind[type] ?? type,
            inLine(nameOf(agent), 60),
            clock(createdAt),
            inLine(of.why ?? ''),
          )}{' '}
          {state === '' ? null : <b class="drift">{state}</b>}
        </small>
      </a>
    </li>
  );
}

type Pair = Answers['memory_pairs']['pairs'][number];

/** What is about the same, each pair side by side; a person says which holds. Nothing where there is none. */
function Pairs({ type }: { type: string }): VNode | null {
  const loaded = useAnswer('memory_pairs', type === '' ? {} : { type }, ['memory']);
  const { data } = loaded;
  if (data === undefined || data.pairs.length === 0) return null;
  return (
    <section aria-label={t`Which one holds?`}>
      <Group title={t`Which one holds?`} count={data.total} />
      {data.pairs.map((pair) => (
        <article class="pair" key={`${pair.memory.id} ${pair.other.id}`} data-entry tabIndex={0}>
          <Side memory={pair.other} than={pair.memory} pair={pair} onDone={loaded.reload} />
          <Side memory={pair.memory} than={pair.other} pair={pair} isNewer onDone={loaded.reload} />
          {pair.stored ? (
            <div class="both">
              <Actions
                about={inLine(pair.other.text, 80)}
                onDone={loaded.reload}
                actions={[
                  { label: t`Both hold`, operation: 'memory_keep_both', args: bothOf(pair), equal: true },
                ]}
              />
            </div>
          ) : null}
        </article>
      ))}
    </section>
  );
}

const bothOf = ({ memory: { id, type }, other }: Pair) => ({ id, type, other: other.id });

function Side(of: {
  memory: Pair['memory'];
  than: Pair['memory'];
  pair: Pair;
  isNewer?: boolean;
  onDone: () => void;
}): VNode {
  const nameOf = useNames();
  const { memory, than, isNewer = false } = of;
  const args = { id: than.id, type: than.type, by: memory.id };
  // Of two with the same minute the order of the list still says which is newer.
  return (
    <div>
      <p>
        {differing(than.text, memory.text).map(({ text, isOwn }, index) =>
          isOwn ? <mark key={index}>{visible(text)}</mark> : <span key={index}>{visible(text)}</span>,
        )}
      </p>
      <p class="soft">
        <a href={address('memory', [memory.id], { of: memory.type })}>{inLine(nameOf(memory.agent), 60)}</a> ·{' '}
        <When at={memory.updatedAt} as={dayName} />
        {isNewer ? ` · ${t`newer`}` : ''}
      </p>
      {of.pair.stored ? (
        <Actions
          about={inLine(memory.text, 80)}
          onDone={of.onDone}
          actions={[{ label: t`This one holds`, operation: 'memory_supersede', args, equal: true }]}
        />
      ) : (
        <p class="soft">{t`from a file: edit it there`}</p>
      )}
    </div>
  );
}

/** One memory: what it says, what it said, and which others are close to it. */
function OneMemory({ id }: { id: string }): VNode {
  const { q, type: asked, all, of: type } = Object.fromEntries(route.value.query);
  const which = { id, ...(type === undefined ? {} : { type }) };
  const loaded = useAnswer('memory_get', which, ['memory']);
  return (
    <Beside about={t`Memory`} back={address('memory', [], { q, type: asked, all })}>
      <Shown loaded={loaded}>{(data) => <Whole found={data} onDone={loaded.reload} />}</Shown>
    </Beside>
  );
}

function Whole({ found, onDone }: { found: Answers['memory_get']; onDone: () => void }): VNode {
  const { memory, revisions, sources, stored } = found;
  const [editing, setEditing] = useState(false);
  const nameOf = useNames();
  const which = { id: memory.id, type: memory.type };
  const gone = memory.forgottenAt !== undefined || memory.supersededBy !== undefined;
  return (
    <>
      <p class="why">
        {dotted(
          words.value.memory.oneKind[memory.type] ?? memory.type,
          inLine(nameOf(memory.agent), 60),
          moment(memory.createdAt),
        )}
        {memory.forgottenAt === undefined ? null : <b class="drift"> {t`forgotten`}</b>}
        {memory.supersededBy === undefined ? null : (
          <a class="drift" href={address('memory', [memory.supersededBy])}>
            {' '}
            {t`replaced`}
          </a>
        )}
      </p>
      {editing ? (
        <TextForm
          label={t`Edit`}
          say={t`Save`}
          text={memory.text}
          onCancel={() => setEditing(false)}
          onSend={async (text) => {
            await ask('memory_update', { ...which, text, ...here() });
            tell({ text: t`Saved.` });
            setEditing(false);
            onDone();
          }}
        />
      ) : (
        <Exact text={memory.text} />
      )}
      <Fold title={t`Details`}>
        <p class="proof">
          {inLine(memory.id)} · {t`Found in`} {inLine(sources.join(' · '), 500)}
        </p>
      </Fold>
      {stored ? (
        <div class="row-acts">
          {editing || gone || session.value?.readOnly === true ? null : (
            <Press says={t`Edit`} onPress={() => setEditing(true)} />
          )}
          <Actions
            about={inLine(memory.text, 80)}
            onDone={onDone}
            actions={
              gone
                ? [{ label: t`Restore`, operation: 'memory_restore', args: which }]
                : [{ label: t`Forget`, operation: 'memory_forget', args: which, equal: true }]
            }
          />
        </div>
      ) : (
        <p class="soft">{t`from a file: edit it there`}</p>
      )}
      {revisions.length === 0 ? null : <History revisions={revisions} now={memory} />}
    </>
  );
}

function History(of: { revisions: Answers['memory_get']['revisions']; now: Remembered }): VNode {
  return (
    <Fold title={`${t`Earlier versions`} (${of.revisions.length})`}>
      {of.revisions.toReversed().map(({ revision, text, agent, at }) => (
        <Diff
          key={revision}
          title={`${revision}, ${agent}, ${moment(at)}`}
          text={text
            .split('\n')
            .map((each) => `-${each}`)
            .join('\n')}
        />
      ))}
    </Fold>
  );
}
