import type { VNode } from 'preact';
import type { Inbox as InboxData, InboxItem } from '../answers.ts';
import { useAnswer, type Loaded } from '../loading.ts';
import { Actions } from '../parts/actions.tsx';
import { Diff } from '../parts/diff.tsx';
import { Phases } from '../parts/phases.tsx';
import { Empty, Group, Heading, Shown, Unread } from '../parts/shown.tsx';
import { Exact, Proofs } from '../parts/texts.tsx';
import { inLine } from '../parts/visible.ts';
import { refine, route } from '../router.ts';
import { age, moment } from '../message.ts';
import { words } from '../words.ts';

/** Kinds as the server names them, each in the group that a person looks for; red is what is broken. */
const GROUPS: readonly [group: string, kinds: readonly string[], tone: string][] = [
  ['task', ['task', 'result'], ''],
  ['trust', ['trust'], ''],
  ['source', ['source'], 'info'],
  ['contract', ['contract', 'handoff'], 'info'],
  ['drift', ['ledger'], 'bad'],
  ['receipt', ['verdict'], 'bad'],
  ['run', ['run'], 'info'],
];

const groupOf = ({ kind }: InboxItem): string =>
  GROUPS.find(([, kinds]) => kinds.includes(kind))?.[0] ?? 'other';

const toneOf = (group: string): string => GROUPS.find(([name]) => name === group)?.[2] ?? '';

const oldestFirst = (one: InboxItem, other: InboxItem): number =>
  (one.since ?? '9').localeCompare(other.since ?? '9');

/** Everything that waits for a person. */
export function Inbox({ inbox }: { inbox: Loaded<InboxData> }): VNode {
  const next = useAnswer('next', { detail: 'brief' }, ['progress', 'content', 'runs', 'receipts']);
  const { inbox: said } = words.value;
  return (
    <>
      <Heading
        title={said.title}
        lead={inbox.data === undefined ? undefined : said.lead(inbox.data.items.length)}
      />
      {next.data === undefined ? null : <Phases next={next.data} />}
      <Shown loaded={inbox}>
        {({ items, unread }) => (
          <>
            <Roles items={items} />
            <Groups items={items.filter(wanted)} onDone={inbox.reload} />
            <Unread items={unread} />
          </>
        )}
      </Shown>
    </>
  );
}

const wanted = ({ role }: InboxItem): boolean => {
  const asked = route.value.query.get('role');
  return asked === null || role === undefined || role === asked;
};

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

function Groups({ items, onDone }: { items: readonly InboxItem[]; onDone: () => void }): VNode {
  const { inbox: said } = words.value;
  if (items.length === 0) return <Empty title={said.empty} how={said.emptyHow} />;
  const names = [...GROUPS.map(([name]) => name), 'other'];
  return (
    <>
      {names.map((name) => {
        const own = items.filter((item) => groupOf(item) === name).sort(oldestFirst);
        return own.length === 0 ? null : (
          <section key={name}>
            <Group title={said.kinds[name] ?? name} count={own.length} />
            <ul class="list">
              {own.map((item) => (
                <Entry key={item.id} item={item} tone={toneOf(name)} onDone={onDone} />
              ))}
            </ul>
          </section>
        );
      })}
    </>
  );
}

function Entry({ item, tone, onDone }: { item: InboxItem; tone: string; onDone: () => void }): VNode {
  const { inbox: said } = words.value;
  const { title, role, since, evidence, actions } = item;
  return (
    <li class="item" data-entry tabIndex={0} aria-label={inLine(title)}>
      <span class={`dot ${tone}`} aria-hidden="true" />
      <div>
        <p class="what">{inLine(title)}</p>
        <p class="why">
          {role === undefined ? said.anyone : inLine(role, 60)}
          {since === undefined ? null : (
            <time dateTime={since} title={moment(since)}>
              {' · '}
              {said.since(age(since))}
            </time>
          )}
        </p>
        <Proofs evidence={evidence} />
        <Decided item={item} />
      </div>
      <Actions actions={actions} about={inLine(title)} onDone={onDone} />
    </li>
  );
}

/** What is decided on, to the letter; a change of a file as the change it is. */
function Decided({ item: { text, title } }: { item: InboxItem }): VNode | null {
  if (text === undefined || text === '' || text === title) return null;
  if (text.startsWith('--- ')) return <Diff text={text} />;
  return <Exact text={text} label={words.value.inbox.exact} />;
}
