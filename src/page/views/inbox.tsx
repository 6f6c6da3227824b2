import type { ComponentChildren, VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Inbox as InboxData, InboxItem } from '../answers.ts';
import { ask, perform } from '../api.ts';
import { session } from '../live.ts';
import { useActivity, useElsewhere, useNames, type Loaded } from '../loading.ts';
import { age, clock, labelled, moment, span, t } from '../message.ts';
import { Actions } from '../parts/actions.tsx';
import { Choice, TextForm } from '../parts/choice.tsx';
import { asLine, dotted, inLine } from '../parts/wording.ts';
import { tell } from '../parts/notices.tsx';
import { Diff } from '../parts/diff.tsx';
import { Empty, Group, Heading, Press, Shown, Unread, When } from '../parts/shown.tsx';
import { AllowFirst, Exact, Exacts, Proofs, RepairRequest } from '../parts/texts.tsx';
import { Fold } from '../parts/work.tsx';
import { address, here, project, refine, route } from '../router.ts';
import { words } from '../words.ts';

/** What is broken or contradicts itself comes before what is to be decided. */
const BROKEN = new Set(['verdict', 'ledger', 'memory']);

/** Fewer are read faster than a filter is chosen. */
const FILTERED_FROM = 15;
/** More lines than these nobody goes through; the first are shown, and what is decided makes room. */
const MOST_ROWS = 200;

/** One thing that waits, in whichever project. */
interface Waiting extends InboxItem {
  /** The folder of its project, and what that is called where several are shown. */
  root: string | undefined;
  of?: string;
}

const keyOf = ({ id, root, of }: Waiting): string => (of === undefined ? id : `${root} ${id}`);

/** Whom it is from or for; what the server found by itself is for anyone. */
const roleOf = ({ kind, role }: InboxItem): string | undefined =>
  BROKEN.has(kind) || kind === 'trust' ? undefined : role;

const kindOf = ({ kind }: InboxItem): string => words.value.inbox.kinds[kind] ?? kind;

const oldestFirst = (one: InboxItem, other: InboxItem): number =>
  (one.since ?? '9').localeCompare(other.since ?? '9');

/** In the order in which they are shown. */
function ordered(items: readonly Waiting[]): { broken: Waiting[]; decisions: Waiting[] } {
  const asked = items.length < FILTERED_FROM ? null : route.value.query.get('role');
  const wanted = items.filter((item) => asked === null || [undefined, asked].includes(roleOf(item)));
  const sorted = [...wanted].sort(oldestFirst);
  return {
    broken: sorted.filter(({ kind }) => BROKEN.has(kind)),
    decisions: sorted.filter(({ kind }) => !BROKEN.has(kind)),
  };
}

const isOfAll = (): boolean => route.value.query.get('of') === 'all';

/** Everything that waits for a person: one line each, and beside it the one that is read. */
export function Inbox({ inbox }: { inbox: Loaded<InboxData> }): VNode {
  const { inbox: said } = words.value;
  const own = project.value;
  const projects = session.value?.projects ?? [];
  const others = projects.filter(({ root }) => root !== own).map(({ root }) => root);
  const elsewhere = useElsewhere(isOfAll() ? others : []);
  const named = (root: string): string => projects.find((each) => each.root === root)?.name ?? root;
  const gone = (elsewhere.data ?? []).flatMap(({ root, problem }) =>
    problem === undefined ? [] : [{ what: named(root), why: problem }],
  );
  const all = [
    ...(inbox.data?.items ?? []).map((item): Waiting => ({
      ...item,
      root: own,
      ...(isOfAll() && own !== undefined ? { of: named(own) } : {}),
    })),
    ...(elsewhere.data ?? []).flatMap(({ root, inbox: found }) =>
      (found?.items ?? []).map((item): Waiting => ({ ...item, root, of: named(root) })),
    ),
  ];
  const reload = (): void => {
    inbox.reload();
    if (isOfAll()) elsewhere.reload();
  };
  return (
    <ListAndReader
      items={all}
      unread={[...gone, ...(inbox.data?.unread ?? [])]}
      loaded={inbox}
      reload={reload}
    >
      <Heading title={t`Waiting for you`} lead={inbox.data === undefined ? undefined : said.lead(all.length)}>
        {others.length === 0 ? null : (
          <Choice
            parts
            label={t`Which projects`}
            now={isOfAll() ? 'all' : ''}
            among={[
              ['', inLine(named(own ?? ''), 40)],
              ['all', t`All projects`],
            ]}
            onChoose={(of) => refine({ of, entry: undefined })}
          />
        )}
      </Heading>
      {all.length < FILTERED_FROM ? null : <Roles items={all} />}
    </ListAndReader>
  );
}

/** Each role looks at its own; what has none is for everyone. */
function Roles({ items }: { items: readonly InboxItem[] }): VNode | null {
  const roles = [...new Set(items.flatMap((item) => roleOf(item) ?? []))].sort();
  const nameOf = useNames();
  if (roles.length < 2) return null;
  return (
    <Choice
      label={t`Role`}
      now={route.value.query.get('role') ?? ''}
      among={[['', t`all`], ...roles.map((role) => [role, inLine(nameOf(role), 40)] as const)]}
      onChoose={(role) => refine({ role })}
    />
  );
}

/** An answer to what an agent asks: it is remembered as a decision, which every agent is told, and the question is closed. */
function Answering({ item, onDone }: { item: Waiting; onDone: () => void }): VNode | null {
  const [closing] = item.actions;
  if (closing === undefined || session.value?.readOnly === true) return null;
  const place = here(item.root);
  return (
    <TextForm
      act={1}
      label={t`Your answer, which is remembered as a decision`}
      say={t`Answer`}
      onSend={async (text) => {
        const answer = `${asLine(item.text)} → ${asLine(text)}`;
        await ask('log_decision', { agent: item.role ?? 'person', text: answer, ...place });
        await perform(closing.operation, { ...closing.args, ...place });
        tell({ text: labelled(t`Answered`, inLine(item.text, 120)) });
        onDone();
      }}
    />
  );
}

const rowOf = (id: string): HTMLElement | null =>
  document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`);

/** What took the place of one of a list: the first after it that is there, or the last before it. */
function nearest(list: readonly string[], key = '', there: readonly string[]): string | undefined {
  const at = list.indexOf(key);
  const isThere = (each: string): boolean => there.includes(each);
  return at === -1 ? undefined : (list.slice(at + 1).find(isThere) ?? list.slice(0, at).findLast(isThere));
}

/** Each of the two is as high as the window, and scrolled for itself. */
function ListAndReader(of: {
  items: readonly Waiting[];
  unread: InboxData['unread'];
  loaded: Loaded<InboxData>;
  reload: () => void;
  /** What stands above the list. */
  children: ComponentChildren;
}): VNode {
  const { reload } = of;
  const { broken, decisions } = ordered(of.items);
  const all = [...broken, ...decisions];
  const picked = route.value.query.get('entry') ?? undefined;
  const before = useRef<readonly string[]>([]);
  const wanted = useRef<string | undefined>(undefined);
  const keys = all.map(keyOf);
  const nextTo = (key: string | undefined): string | undefined => nearest(before.current, key, keys);
  const read =
    all.find((item) => keyOf(item) === picked) ??
    all.find((item) => keyOf(item) === nextTo(picked)) ??
    all[0];
  useLayoutEffect(() => {
    // What was read has gone: what has taken its place is read, and keys go on from there, none of them lost.
    const isGone = picked !== undefined && !keys.includes(picked) && before.current.includes(picked);
    before.current = keys;
    if (wanted.current !== undefined && keys.includes(wanted.current)) {
      rowOf(wanted.current)?.focus();
      wanted.current = undefined;
      return;
    }
    if (!isGone || read === undefined) return;
    refine({ entry: keyOf(read) });
    if (document.activeElement === document.body) rowOf(keyOf(read))?.focus();
  }, [keys.join('\n'), picked]);
  const settle = (item: Waiting): void => {
    const next = nearest(before.current, keyOf(item), before.current);
    reload();
    const isStillRead = (route.value.query.get('entry') ?? keyOf(item)) === keyOf(item);
    if (!isStillRead) return;
    refine({ entry: next });
    if (next !== undefined) rowOf(next)?.focus();
  };
  return (
    <div class={`mail ${picked === undefined ? '' : 'picked'}`}>
      <div class="mail-list">
        {of.children}
        <div class="scrolled">
          <Shown loaded={of.loaded}>
            {() =>
              read === undefined ? (
                <Empty
                  title={t`Nothing waits for you.`}
                  how={t`Whatever needs a person appears here, and the tab says so.`}
                />
              ) : (
                <>
                  <Rows title={t`Failed, or contradicts itself`} items={broken} read={read} tone="bad" />
                  <Rows title={t`Decisions`} items={decisions} read={read} tone="open" />
                </>
              )
            }
          </Shown>
          <Decided />
          <Unread items={of.unread} />
        </div>
        {read === undefined ? null : (
          <p class="soft keyed">{t`j and k choose an entry, 1 to 9 press its buttons, z takes back, ? has all keys.`}</p>
        )}
      </div>
      {read === undefined ? null : (
        <Reader
          key={keyOf(read)}
          item={read}
          onDone={(decides) => (decides ? settle(read) : reload())}
          onUndone={() => {
            wanted.current = keyOf(read);
            reload();
          }}
        />
      )}
    </div>
  );
}

function Rows(of: {
  title: string;
  items: readonly Waiting[];
  read: Waiting | undefined;
  tone: string;
}): VNode | null {
  const nameOf = useNames();
  const { items } = of;
  if (items.length === 0) return null;
  return (
    <section>
      <Group title={of.title} count={items.length} />
      <ul class="rows-list">
        {items.slice(0, MOST_ROWS).map((item) => (
          <li
            class="line"
            key={keyOf(item)}
            data-entry
            data-row={keyOf(item)}
            tabIndex={0}
            aria-current={item === of.read ? 'true' : undefined}
            onFocus={() => refine({ entry: keyOf(item) })}
            onKeyDown={({ key }) => {
              if (key === 'Enter') document.querySelector<HTMLElement>('[data-reader] h2')?.focus();
            }}
          >
            <span class={`dot ${of.tone}`} aria-hidden="true" />
            <span class="what">{inLine(item.title)}</span>
            <span class="soft">{inLine(item.of ?? (nameOf(roleOf(item)) || kindOf(item)), 60)}</span>
            <When at={item.since} as={span} />
          </li>
        ))}
      </ul>
      {items.length > MOST_ROWS ? <p class="soft">{t`and ${items.length - MOST_ROWS} more`}</p> : null}
    </section>
  );
}

function Reader(of: {
  item: Waiting;
  /** Told whether it was decided on. */
  onDone: (decides: boolean) => void;
  onUndone: () => void;
}): VNode {
  const nameOf = useNames();
  const { kind, title, since, evidence, actions, root } = of.item;
  const [first, ...more] = evidence;
  // What fails says more than that it does.
  const isFailure = kind === 'verdict' && of.item.exact !== undefined;
  return (
    <article class="reader" data-reader aria-label={inLine(title)}>
      <Press
        class="plain back"
        says={`← ${t`All that waits`}`}
        onPress={() => {
          refine({ entry: undefined });
          scrollTo(0, 0);
        }}
      />
      <p class="why">
        {dotted(
          of.item.of,
          kindOf(of.item),
          inLine(nameOf(roleOf(of.item)), 60) || t`Anyone`,
          ...(since === undefined ? [] : [age(since)]),
        )}
      </p>
      <h2 tabIndex={-1}>{inLine(title)}</h2>
      {first?.says === undefined || first.says === of.item.text || isFailure ? null : (
        <p class="why">{inLine(first.says, 600)}</p>
      )}
      <Text item={of.item} />
      {more.length === 0 && of.item.exact === undefined ? null : (
        <Fold title={t`Details`}>
          <Proofs evidence={evidence} />
          {of.item.exact === undefined ? null : (
            <Exact text={of.item.text} label={t`All of it, as it is stored`} />
          )}
        </Fold>
      )}
      {kind === 'handoff' ? <Answering item={of.item} onDone={() => of.onDone(true)} /> : null}
      <Actions
        keyed
        actions={actions}
        after={kind === 'handoff' ? 1 : 0}
        about={BROKEN.has(kind) || kind === 'trust' ? kindOf(of.item) : inLine(title, 120)}
        where={root}
        onDone={of.onDone}
        onUndone={of.onUndone}
      >
        {kind === 'verdict' ? <RepairRequest what={title} /> : null}
        {kind === 'verdict' && actions.length === 0 ? <AllowFirst /> : null}
      </Actions>
      {actions.length > 0 || kind === 'verdict' ? null : (
        <p class="soft">{t`This is put right in its files; nothing can be decided here.`}</p>
      )}
    </article>
  );
}

/** What is decided on, to the letter; a change of a file as the change it is. */
function Text({ item: { text, title, exact } }: { item: InboxItem }): VNode {
  if (exact === undefined && text.startsWith('--- ')) return <Diff text={text} />;
  return <Exacts title={title} texts={exact ?? [{ name: 'text', text }]} />;
}

/** What people have decided today, whoever and wherever they did. */
function Decided(): VNode | null {
  const { data } = useActivity();
  const decided = (data?.events ?? []).filter(({ kind }) => kind === 'decision');
  if (decided.length === 0) return null;
  return (
    <section class="settled">
      <Group title={t`Decided today`} count={decided.length} />
      <ul class="rows-list">
        {decided.map(({ at, id, what, about, by, yes }) => (
          <li class="line" key={`${at} ${id}`}>
            <span class={yes === false ? 'bad' : 'good'} aria-hidden="true">
              {yes === false ? '✕' : '✓'}
            </span>
            <span class="what">
              {id.startsWith('task-') ? (
                <a href={address('now', ['tasks', id.replace('.result', '')])}>{inLine(about)}</a>
              ) : (
                inLine(about)
              )}
            </span>
            <span class="soft">{what}</span>
            <time class="soft" dateTime={at} title={inLine(dotted(moment(at), by), 120)}>
              {clock(at)}
            </time>
          </li>
        ))}
      </ul>
    </section>
  );
}
