import type { VNode } from 'preact';
import type { MemoryHit, Memory as Remembered } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { Pages } from '../parts/pages.tsx';
import { Empty, Heading, Shown } from '../parts/shown.tsx';
import { useSettled } from '../parts/settled.ts';
import { inLine } from '../parts/visible.ts';
import { address, refine, route } from '../router.ts';
import { moment } from '../message.ts';
import { words } from '../words.ts';
import { Pairs } from './pairs.tsx';
import { OneMemory } from './one-memory.tsx';

const TYPES = ['shared-context', 'decisions', 'agent-learnings', 'failures', 'stories'] as const;

const query = (name: string): string => route.value.query.get(name) ?? '';

/** What the project remembers: found by words and meaning, corrected, replaced, forgotten, restored. */
export function Memory(): VNode {
  const { memory, shell } = words.value;
  const stats = useAnswer('memory_stats', {}, ['memory']);
  const typed = query('q');
  const settled = useSettled(typed);
  const [id] = route.value.rest;
  const type = query('type');
  return (
    <>
      <Heading
        title={memory.title}
        lead={stats.data === undefined ? undefined : memory.lead(stats.data.live)}
      >
        <input
          class="search"
          type="search"
          data-search
          aria-label={memory.search}
          placeholder={`${memory.search} …  /`}
          value={typed}
          onInput={(event) => refine({ q: event.currentTarget.value })}
        />
      </Heading>
      <div class="filters" role="group" aria-label={memory.kind}>
        {['', ...TYPES].map((name) => (
          <button
            type="button"
            key={name}
            aria-pressed={type === name}
            onClick={() => refine({ type: name })}
          >
            {name === '' ? shell.all : name}{' '}
            {name === '' || stats.data === undefined ? null : <b>{stats.data.byType[name] ?? 0}</b>}
          </button>
        ))}
        <label>
          <input
            type="checkbox"
            checked={query('all') === '1'}
            onChange={(event) => refine({ all: event.currentTarget.checked ? '1' : '' })}
          />{' '}
          {memory.gone}
        </label>
      </div>
      {id === undefined ? null : <OneMemory id={id} type={query('of')} />}
      {id === undefined && settled === '' ? <Pairs type={type} /> : null}
      {settled === '' ? (
        <All type={type} gone={query('all') === '1'} />
      ) : (
        <MemoryHits text={settled} type={type} />
      )}
    </>
  );
}

function All({ type, gone }: { type: string; gone: boolean }): VNode {
  const { memory } = words.value;
  const args = { limit: 50, ...(type === '' ? {} : { type }), ...(gone ? { all: true } : {}) };
  return (
    <Pages operation="memory_list" args={args} topics={['memory']}>
      {({ memories }) =>
        memories.length === 0 ? (
          <Empty title={memory.empty} />
        ) : (
          <ul class="list entries long">
            {memories.map((each) => (
              <Line key={`${each.type} ${each.id}`} of={each} text={each.text} />
            ))}
          </ul>
        )
      }
    </Pages>
  );
}

function MemoryHits({ text, type }: { text: string; type: string }): VNode {
  const { memory } = words.value;
  const loaded = useAnswer('recall_structured', { query: text, ...(type === '' ? {} : { type }) }, [
    'memory',
  ]);
  return (
    <Shown loaded={loaded}>
      {({ hits, notes }) => (
        <>
          {hits.length === 0 ? (
            <Empty title={memory.noHits} />
          ) : (
            <ul class="list entries long">
              {hits.map((hit) => (
                <Line key={`${hit.type} ${hit.id}`} of={hit} text={hit.snippet} why={whyOf(hit)} />
              ))}
            </ul>
          )}
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

const whyOf = ({ stored, sources }: MemoryHit): string => (stored ? '' : (sources[0] ?? ''));

function Line(of: { of: Omit<Remembered, 'text'>; text: string; why?: string }): VNode {
  const { memory } = words.value;
  const { id, type, agent, createdAt, supersededBy, forgottenAt } = of.of;
  const state =
    forgottenAt !== undefined ? memory.forgotten : supersededBy === undefined ? '' : memory.replaced;
  const { q, type: asked, all } = Object.fromEntries(route.value.query);
  return (
    <li>
      <a data-entry href={address('memory', [id], { of: type, q, type: asked, all })}>
        <span class="what">{inLine(of.text, 240)}</span>
        <span class="why">
          {inLine(type)} · {inLine(agent)} · {moment(createdAt)}{' '}
          {state === '' ? null : <b class="drift">{state}</b>}
        </span>
        {of.why === undefined || of.why === '' ? null : <span class="proof">{inLine(of.why)}</span>}
      </a>
    </li>
  );
}
