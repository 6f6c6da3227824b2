import { t } from './message.ts';
import type { VNode } from 'preact';
import type { Inbox as InboxData } from './answers.ts';
import type { Loaded } from './loading.ts';
import { More } from './navigation.tsx';
import { Empty, Heading } from './parts/shown.tsx';
import { address, route, type Place, type Route } from './router.ts';
import { Audit } from './views/audit.tsx';
import { Board } from './views/board.tsx';
import { Catalogue } from './views/catalogue.tsx';
import { Failures } from './views/failures.tsx';
import { Handover } from './views/handover.tsx';
import { Health } from './views/health.tsx';
import { Inbox } from './views/inbox.tsx';
import { Item } from './views/item.tsx';
import { Memory } from './views/memory.tsx';
import { Now } from './views/now.tsx';
import { Proof } from './views/proof.tsx';
import { Runs } from './views/runs.tsx';
import { Sources } from './views/sources.tsx';
import { Tasks } from './views/tasks.tsx';
import { words } from './words.ts';

type Views = Readonly<Record<string, () => VNode>>;

/** What each place shows, by what follows it in the address; the first is the place itself. */
const PARTS: Readonly<Record<Exclude<Place, 'inbox'>, Views>> = {
  now: { '': Now, runs: Runs, tasks: Tasks },
  board: { '': Board },
  memory: { '': Memory, failures: Failures },
  proof: { '': Proof, handover: Handover },
  catalogue: { '': Catalogue, sources: Sources },
  health: { '': Health, audit: Audit },
  item: { '': Item },
  more: { '': More },
};

/** What is shown: a view, or a part of it; what is opened in it does not make it another, beside things of the catalogue. */
export function shownIn({ view, rest }: Route): string {
  const [part = ''] = rest;
  if (view === 'item') return rest.join('/');
  return view !== 'inbox' && view !== 'unknown' && Object.hasOwn(PARTS[view], part) ? part : '';
}

export function ViewOf({ inbox }: { inbox: Loaded<InboxData> }): VNode {
  const { view } = route.value;
  if (view === 'inbox') return <Inbox inbox={inbox} />;
  if (view === 'unknown') return <Unknown />;
  const parts = PARTS[view];
  const here = view === 'item' ? '' : shownIn(route.value);
  const Part = parts[here] ?? Unknown;
  return (
    <>
      {Object.keys(parts).length < 2 ? null : <Parts view={view} names={Object.keys(parts)} here={here} />}
      <Part />
    </>
  );
}

/** The parts of a view, one of which is shown. */
function Parts({ view, names, here }: { view: Place; names: readonly string[]; here: string }): VNode {
  const { views, parts } = words.value;
  return (
    <nav class="seg" aria-label={views[view]}>
      {names.map((name) => (
        <a
          key={name}
          href={address(view, name === '' ? [] : [name])}
          aria-current={name === here ? 'page' : undefined}
        >
          {name === '' ? (parts[view] ?? views[view]) : parts[name]}
        </a>
      ))}
    </nav>
  );
}

function Unknown(): VNode {
  return (
    <>
      <Heading title={t`There is no such view`} />
      <Empty title={t`The address may have been shortened. Start at the inbox.`} />
      <p>
        <a class="go" href={address('inbox')}>
          {words.value.views.inbox}
        </a>
      </p>
    </>
  );
}
