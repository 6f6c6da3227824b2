import type { VNode } from 'preact';
import type { Inbox as InboxData } from './answers.ts';
import type { Loaded } from './loading.ts';
import { Empty, Heading } from './parts/shown.tsx';
import { address, route } from './router.ts';
import { Board } from './views/board.tsx';
import { Catalogue } from './views/catalogue.tsx';
import { Failures } from './views/failures.tsx';
import { Handover } from './views/handover.tsx';
import { Health } from './views/health.tsx';
import { Inbox } from './views/inbox.tsx';
import { Item } from './views/item.tsx';
import { Memory } from './views/memory.tsx';
import { Next } from './views/next.tsx';
import { Proof } from './views/proof.tsx';
import { Runs } from './views/runs.tsx';
import { Sources } from './views/sources.tsx';
import { Tasks } from './views/tasks.tsx';
import { words } from './words.ts';

const VIEW_OF = {
  next: Next,
  board: Board,
  runs: Runs,
  tasks: Tasks,
  proof: Proof,
  handover: Handover,
  catalogue: Catalogue,
  item: Item,
  memory: Memory,
  failures: Failures,
  sources: Sources,
  health: Health,
} as const;

export function ViewOf({ inbox }: { inbox: Loaded<InboxData> }): VNode {
  const { view } = route.value;
  if (view === 'inbox') return <Inbox inbox={inbox} />;
  if (view === 'unknown') return <Unknown />;
  const View = VIEW_OF[view];
  return <View />;
}

function Unknown(): VNode {
  const { shell, views } = words.value;
  return (
    <>
      <Heading title={shell.unknown} />
      <Empty title={shell.unknownHow} />
      <p>
        <a class="go" href={address('inbox')}>
          {views.inbox}
        </a>
      </p>
    </>
  );
}
