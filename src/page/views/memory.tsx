import type { VNode } from 'preact';
import type { MemoryHit, Memory as Remembered } from '../answers.ts';
import { useAnswer, useNames } from '../loading.ts';
import { Choice, SearchField } from '../parts/choice.tsx';
import { Pages } from '../parts/pages.tsx';
import { Empty, Group, Heading, Shown } from '../parts/shown.tsx';
import { useSettled } from '../parts/settled.ts';
import { dotted, inLine } from '../parts/visible.ts';
import { address, refine, route } from '../router.ts';
import { clock, dayName, moment, plural, t } from '../message.ts';
import { words } from '../words.ts';
import { Pairs } from './pairs.tsx';
import { OneMemory } from './one-memory.tsx';

const TYPES = ['shared-context', 'decisions', 'agent-learnings', 'failures', 'stories'] as const;

const query = (name: string): string => route.value.query.get(name) ?? '';

/** What the project remembers: found by words and meaning, corrected, replaced, forgotten, restored. */
export function Memory(): VNode {
  const { kinds } = words.value.memory;
  const stats = useAnswer('memory_stats', {}, ['memory']);
  const typed = query('q');
  const settled = useSettled(typed);
  const [id] = route.value.rest;
  const type = query('type');
  return (
    <div class={id === undefined ? '' : 'opened'}>
      <Heading
        title={t`Memory`}
        lead={stats.data === undefined ? undefined : t`${plural(stats.data.live, 'memory', 'memories')}.`}
      >
        <SearchField label={t`Search by words and meaning`} />
      </Heading>
      <Choice
        label={t`Kind`}
        now={type}
        among={[
          ['', t`all`],
          ...TYPES.map((name) => [name, kinds[name] ?? name, stats.data?.byType[name] ?? 0] as const),
        ]}
        onChoose={(name) => refine({ type: name })}
      >
        <label>
          <input
            type="checkbox"
            checked={query('all') === '1'}
            onChange={(event) => refine({ all: event.currentTarget.checked ? '1' : '' })}
          />{' '}
          {t`Show forgotten and replaced`}
        </label>
      </Choice>
      {settled === '' ? (
        <>
          <Pairs type={type} />
          <All type={type} gone={query('all') === '1'} />
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
      {({ memories }, isFirst) => {
        if (memories.length === 0)
          return isFirst ? <Unkept type={type} /> : <Empty title={t`Nothing is remembered yet.`} />;
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

/** Nothing was remembered through the server; what files of the project remember is found by a search, and named here. */
function Unkept({ type }: { type: string }): VNode {
  const asked = { query: '*', limit: 20, ...(type === '' ? {} : { type }) };
  const files = useAnswer('recall_structured', asked, ['memory']);
  const hits = (files.data?.hits ?? []).filter(({ stored }) => !stored);
  if (hits.length === 0)
    return (
      <Empty
        title={t`Nothing is remembered yet.`}
        how={t`Agents keep decisions, facts and what they have learnt here.`}
      />
    );
  return (
    <section>
      <Group title={t`Remembered in files of the project`} count={hits.length} />
      <Hits hits={hits} />
    </section>
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

const Hits = ({ hits }: { hits: readonly MemoryHit[] }): VNode => (
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
