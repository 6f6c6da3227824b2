import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { Listed } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { Pages } from '../parts/pages.tsx';
import { Empty, Group, Heading, Shown } from '../parts/shown.tsx';
import { useSettled } from '../parts/settled.ts';
import { inLine } from '../parts/visible.ts';
import { address, refine, route } from '../router.ts';
import { words } from '../words.ts';

const KINDS = ['agents', 'workflows', 'skills', 'tasks', 'knowledge', 'templates', 'checklists'] as const;
type Kind = (typeof KINDS)[number];

/** The fields of an entry that narrow a list down. */
const NARROWED = ['module', 'phase', 'origin'] as const;
type Narrowed = (typeof NARROWED)[number];

const query = (name: string): string => route.value.query.get(name) ?? '';

const fits = (item: Listed): boolean =>
  NARROWED.every((field) => query(field) === '' || item[field] === query(field));

/** Agents, workflows, skills and knowledge: all of them, or what the words find. */
export function Catalogue(): VNode {
  const { catalogue } = words.value;
  const typed = query('q');
  const settled = useSettled(typed);
  const kind = KINDS.find((name) => name === query('kind'));
  const field = useId();
  return (
    <>
      <Heading title={catalogue.title}>
        <input
          id={field}
          class="search"
          type="search"
          data-search
          aria-label={catalogue.search}
          placeholder={`${catalogue.search} …  /`}
          value={typed}
          onInput={(event) => refine({ q: event.currentTarget.value })}
        />
      </Heading>
      <div class="filters">
        <button type="button" aria-pressed={kind === undefined} onClick={() => refine({ kind: undefined })}>
          {words.value.shell.all}
        </button>
        {KINDS.map((name) => (
          <button
            type="button"
            key={name}
            aria-pressed={kind === name}
            onClick={() => refine({ kind: name })}
          >
            {catalogue.kinds[name]}
          </button>
        ))}
      </div>
      {settled === '' ? (
        (kind === undefined ? KINDS : [kind]).map((name) => (
          <ListOf key={name} kind={name} alone={kind !== undefined} />
        ))
      ) : (
        <SearchHits query={settled} kind={kind} />
      )}
    </>
  );
}

/** Choices of what is there, drawn from what was read. */
function Narrowing({ items }: { items: readonly Listed[] }): VNode {
  const { catalogue, shell } = words.value;
  const valuesOf = (field: Narrowed): string[] =>
    [...new Set(items.flatMap((item) => item[field] ?? []))].sort();
  return (
    <div class="filters">
      {NARROWED.map((field) => {
        const values = valuesOf(field);
        return values.length < 2 && query(field) === '' ? null : (
          <label key={field}>
            {catalogue[field]}{' '}
            <select value={query(field)} onChange={(event) => refine({ [field]: event.currentTarget.value })}>
              <option value="">{shell.all}</option>
              {[...new Set([...values, ...(query(field) === '' ? [] : [query(field)])])].map((value) => (
                <option key={value} value={value}>
                  {inLine(value, 60)}
                </option>
              ))}
            </select>
          </label>
        );
      })}
    </div>
  );
}

function ListOf({ kind, alone }: { kind: Kind; alone: boolean }): VNode {
  const { catalogue } = words.value;
  return (
    <Pages operation="list" args={{ what: kind, limit: alone ? 200 : 50 }} topics={['content']}>
      {(found, isFirst) => {
        const items = found.items.filter(fits);
        // Among all kinds, one that has nothing is left out.
        if (!alone && items.length === 0) return null;
        return (
          <section>
            {isFirst ? <Group title={catalogue.kinds[kind]} count={found.total} /> : null}
            {alone && isFirst ? <Narrowing items={found.items} /> : null}
            {items.length > 0 ? (
              <Entries items={items} />
            ) : isFirst ? (
              <Empty title={catalogue.empty} how={catalogue.emptyHow} />
            ) : null}
          </section>
        );
      }}
    </Pages>
  );
}

function SearchHits({ query: text, kind }: { query: string; kind: Kind | undefined }): VNode {
  const { catalogue } = words.value;
  const loaded = useAnswer(
    'search',
    { query: text, limit: 50, ...(kind === undefined ? {} : { type: kind }) },
    ['content'],
  );
  return (
    <Shown loaded={loaded}>
      {({ items }) => (
        <>
          <Narrowing items={items} />
          {items.filter(fits).length === 0 ? (
            <Empty title={catalogue.empty} how={catalogue.emptyHow} />
          ) : (
            <Entries items={items.filter(fits)} />
          )}
        </>
      )}
    </Shown>
  );
}

function Entries({ items }: { items: readonly Listed[] }): VNode {
  return (
    <ul class="list entries">
      {items.map((item) => (
        <li key={`${item.kind} ${item.module ?? ''} ${item.name} ${item.uri ?? ''}`}>
          <a
            data-entry
            href={address('item', [item.kind, item.name], { module: item.module })}
            title={inLine(item.uri ?? item.name)}
          >
            <span class="what">{inLine(item.name, 80)}</span>
            <span class="why">{inLine(item.description ?? item.title ?? '', 160)}</span>
            <span class="proof">
              {[item.kind, item.module, item.phase, item.origin, item.version]
                .flatMap((each) => each ?? [])
                .map((each) => inLine(each, 40))
                .join(' · ')}
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}
