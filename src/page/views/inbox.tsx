import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Inbox as InboxData, InboxItem } from '../answers.ts';
import type { Loaded } from '../loading.ts';
import { age, moment } from '../message.ts';
import { Actions } from '../parts/actions.tsx';
import { announce } from '../parts/announced.tsx';
import { Diff } from '../parts/diff.tsx';
import { Empty, Group, Heading, Shown, Unread } from '../parts/shown.tsx';
import { Exact, Proofs } from '../parts/texts.tsx';
import { inLine } from '../parts/visible.ts';
import { refine, route } from '../router.ts';
import { words } from '../words.ts';

/** What is broken or contradicts itself comes before what is to be decided. */
const BROKEN = new Set(['verdict', 'ledger']);

/** Fewer are read faster than a filter is chosen. */
const FILTERED_FROM = 15;
const isFiltered = (items: readonly InboxItem[]): boolean => items.length >= FILTERED_FROM;

/** What was decided here since the page was opened, the last first. */
interface Settled {
  id: string;
  did: string;
  title: string;
  at: string;
}

const oldestFirst = (one: InboxItem, other: InboxItem): number =>
  (one.since ?? '9').localeCompare(other.since ?? '9');

/** In the order in which they are shown. */
function ordered(items: readonly InboxItem[]): { broken: InboxItem[]; decisions: InboxItem[] } {
  const asked = isFiltered(items) ? route.value.query.get('role') : null;
  const wanted = items.filter(({ role }) => asked === null || role === undefined || role === asked);
  const sorted = [...wanted].sort(oldestFirst);
  return {
    broken: sorted.filter(({ kind }) => BROKEN.has(kind)),
    decisions: sorted.filter(({ kind }) => !BROKEN.has(kind)),
  };
}

/** Everything that waits for a person: one line each, and beside it the one that is read. */
export function Inbox({ inbox }: { inbox: Loaded<InboxData> }): VNode {
  const { inbox: said } = words.value;
  const [settled, setSettled] = useState<readonly Settled[]>([]);
  return (
    <>
      <Heading
        title={said.title}
        lead={inbox.data === undefined ? undefined : said.lead(inbox.data.items.length)}
      />
      <Shown loaded={inbox}>
        {({ items, unread }) => (
          <>
            {isFiltered(items) ? <Roles items={items} /> : null}
            <ListAndReader
              items={items}
              onDone={(done) => {
                setSettled([done, ...settled]);
                inbox.reload();
              }}
            />
            <Done settled={settled} />
            <Unread items={unread} />
          </>
        )}
      </Shown>
    </>
  );
}

/** Each role looks at its own; what has none is for everyone. */
function Roles({ items }: { items: readonly InboxItem[] }): VNode | null {
  const roles = [...new Set(items.flatMap(({ role }) => role ?? []))].sort();
  const asked = route.value.query.get('role') ?? '';
  const { shell } = words.value;
  if (roles.length < 2) return null;
  return (
    <div class="filters">
      {['', ...roles].map((role) => (
        <button
          type="button"
          key={role}
          aria-pressed={asked === role}
          onClick={() => refine({ role: role === '' ? undefined : role })}
        >
          {role === '' ? shell.all : inLine(role, 40)}
        </button>
      ))}
    </div>
  );
}

const rowOf = (id: string): HTMLElement | null =>
  document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`);

function ListAndReader({
  items,
  onDone,
}: {
  items: readonly InboxItem[];
  onDone: (done: Settled) => void;
}): VNode {
  const { inbox: said } = words.value;
  const { broken, decisions } = ordered(items);
  const all = [...broken, ...decisions];
  const picked = route.value.query.get('entry') ?? undefined;
  const before = useRef<readonly string[]>([]);
  const read = all.find(({ id }) => id === picked) ?? all[Math.max(0, before.current.indexOf(picked ?? ''))];
  const ids = all.map(({ id }) => id);
  useEffect(() => {
    // What was read has gone: what has taken its place is read, and keys go on from there.
    const isGone = picked !== undefined && !ids.includes(picked) && before.current.includes(picked);
    before.current = ids;
    if (!isGone || read === undefined) return;
    refine({ entry: read.id });
    if (document.activeElement === document.body) rowOf(read.id)?.focus();
  }, [ids.join('\n'), picked]);
  if (read === undefined) return <Empty title={said.empty} how={said.emptyHow} />;
  const settle = (item: InboxItem, did: string): void => {
    const at = ids.indexOf(item.id);
    const next = ids[at + 1] ?? ids[at - 1];
    refine({ entry: next });
    if (next !== undefined) rowOf(next)?.focus();
    announce(`${did}: ${item.title}`);
    onDone({ id: item.id, did, title: item.title, at: new Date().toISOString() });
  };
  return (
    <div class={`mail ${picked === undefined ? '' : 'picked'}`}>
      <div class="mail-list">
        <Rows title={said.broken} items={broken} read={read.id} tone="bad" />
        <Rows title={said.decisions} items={decisions} read={read.id} tone="soft" />
      </div>
      <Reader key={read.id} item={read} onDone={(did) => settle(read, did)} />
    </div>
  );
}

function Rows({
  title,
  items,
  read,
  tone,
}: {
  title: string;
  items: readonly InboxItem[];
  read: string;
  tone: string;
}): VNode | null {
  const { inbox: said } = words.value;
  if (items.length === 0) return null;
  return (
    <section>
      <Group title={title} count={items.length} />
      <ul class="list">
        {items.map(({ id, title: what, role, since }) => (
          <li
            class="line"
            key={id}
            data-entry
            data-row={id}
            tabIndex={0}
            aria-current={id === read ? 'true' : undefined}
            onFocus={() => refine({ entry: id })}
            onKeyDown={({ key }) => {
              if (key === 'Enter') document.querySelector<HTMLElement>('[data-reader] h2')?.focus();
            }}
          >
            <span class={`dot ${tone}`} aria-hidden="true" />
            <span class="what">{inLine(what)}</span>
            <span class="soft">{role === undefined ? said.anyone : inLine(role, 60)}</span>
            {since === undefined ? (
              <span />
            ) : (
              <time class="soft" dateTime={since} title={moment(since)}>
                {age(since)}
              </time>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Reader({ item, onDone }: { item: InboxItem; onDone: (did: string) => void }): VNode {
  const { inbox: said, shell } = words.value;
  const { kind, title, role, since, evidence, actions } = item;
  const [first, ...more] = evidence;
  return (
    <article class="panel reader" data-reader aria-label={inLine(title)}>
      <button type="button" class="plain back" onClick={() => refine({ entry: undefined })}>
        ← {said.back}
      </button>
      <p class="why">
        {said.kinds[kind] ?? kind} · {role === undefined ? said.anyone : inLine(role, 60)}
        {since === undefined ? null : ` · ${age(since)}`}
      </p>
      <h2 tabIndex={-1}>{inLine(title)}</h2>
      {first?.says === undefined ? null : <p class="why">{inLine(first.says, 600)}</p>}
      <Decided item={item} />
      {more.length === 0 && item.exact === undefined ? null : (
        <details>
          <summary>{said.details}</summary>
          <Proofs evidence={evidence} />
          {item.exact === undefined ? null : <Exact text={item.text} label={said.asStored} />}
        </details>
      )}
      <Actions actions={actions} about={inLine(title)} onDone={onDone} />
      <p class={`soft ${actions.length === 0 ? '' : 'keyed'}`}>
        {actions.length === 0 ? said.nothingHere : shell.byKey}
      </p>
    </article>
  );
}

/** As much as is read at a glance; the rest is one click away, in place. */
const LINES = 8;

/** What is decided on, to the letter; a change of a file as the change it is. */
function Decided({ item: { text, title, exact } }: { item: InboxItem }): VNode | null {
  const { inbox: said } = words.value;
  if (exact !== undefined)
    return (
      <>
        {exact.map((one) => (
          <Exact key={one.name} text={one.text} label={said.texts[one.name] ?? one.name} lines={LINES} />
        ))}
      </>
    );
  if (text === '' || text === title) return null;
  if (text.startsWith('--- ')) return <Diff text={text} />;
  return <Exact text={text} label={said.exact} lines={LINES} />;
}

/** What a person has just done stays in sight: nothing else on the page says it. */
function Done({ settled }: { settled: readonly Settled[] }): VNode | null {
  if (settled.length === 0) return null;
  return (
    <section class="settled">
      <Group title={words.value.inbox.settled} count={settled.length} />
      <ul class="list">
        {settled.map(({ id, did, title, at }) => (
          <li class="line" key={`${id} ${at}`}>
            <span class="good" aria-hidden="true">
              ✓
            </span>
            <span class="what">{inLine(title)}</span>
            <span class="soft">{did}</span>
            <time class="soft" dateTime={at} title={moment(at)}>
              {age(at)}
            </time>
          </li>
        ))}
      </ul>
    </section>
  );
}
