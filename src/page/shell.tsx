import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { signedOut } from './api.ts';
import type { Inbox } from './answers.ts';
import { listenToKeys } from './keyboard.ts';
import { enter, follow, line, session, unreachable } from './live.ts';
import { useInbox, type Loaded } from './loading.ts';
import { Navigation } from './navigation.tsx';
import { Announced } from './parts/announced.tsx';
import { Keys } from './parts/keys.tsx';
import { Copy } from './parts/texts.tsx';
import { inLine } from './parts/visible.ts';
import { address, project, route } from './router.ts';
import { ViewOf } from './views.tsx';
import { language, offerLanguage } from './message.ts';
import { words } from './words.ts';

/** The page: who is here, the views, and what is live of them. */
export function Shell(): VNode {
  const known = session.value;
  useEffect(listenToKeys, []);
  useEffect(() => {
    document.documentElement.lang = language.value;
  });
  useEffect(() => {
    if (known !== undefined) offerLanguage(known.language);
  }, [known]);
  if (signedOut.value !== undefined) return <SignedOut why={signedOut.value.message} />;
  if (known === undefined)
    return unreachable.value ? <NoServer /> : <p class="bare">{words.value.shell.loading} …</p>;
  return <Inside />;
}

function Inside(): VNode {
  const where = project.value;
  const inbox = useInbox();
  useEffect(() => follow(where), [where]);
  return (
    <div class="app">
      <a class="skip" href="#main" onClick={skipped}>
        {words.value.shell.skip}
      </a>
      <Navigation waiting={inbox.data?.items.length} />
      <Main inbox={inbox} />
      <Announced />
      <Keys />
    </div>
  );
}

/** The address belongs to the views, so the jump is made without it. */
function skipped(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('main h1')?.focus();
}

function Main({ inbox }: { inbox: Loaded<Inbox> }): VNode {
  const { view, rest } = route.value;
  const { shell, views } = words.value;
  const main = useRef<HTMLElement>(null);
  const opened = useRef(false);
  const place = `${view}/${rest.join('/')}`;
  useEffect(() => {
    document.title = `${view === 'unknown' ? 'BMAD' : views[view]} · BMAD`;
    // Who hears the page is told where they are; not on arrival, where the browser does that.
    if (opened.current) main.current?.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
    opened.current = true;
    scrollTo(0, 0);
  }, [place]);
  return (
    <main id="main" ref={main}>
      {line.value === 'lost' ? (
        <p class="lost" role="status">
          {shell.lost} …
        </p>
      ) : null}
      {session.value?.readOnly === true ? <p class="lost">{shell.readOnly}</p> : null}
      <ViewOf key={place} inbox={inbox} />
    </main>
  );
}

function SignedOut({ why }: { why: string }): VNode {
  const { shell } = words.value;
  return (
    <main class="bare">
      <h1>{shell.signedOut}</h1>
      <p>{inLine(why, 600)}</p>
      <p class="soft">{shell.signedOutHow}</p>
      <Copy text="bmad page" />
      <p>
        <a href={address('inbox')} onClick={() => void enter()}>
          {shell.retry}
        </a>
      </p>
    </main>
  );
}

function NoServer(): VNode {
  const { shell } = words.value;
  return (
    <main class="bare">
      <h1>{shell.noServer}</h1>
      <button type="button" class="go" onClick={() => void enter()}>
        {shell.retry}
      </button>
    </main>
  );
}
