import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { signedOut } from './api.ts';
import type { Inbox } from './answers.ts';
import { GO, listenToKeys, sheet } from './keyboard.ts';
import { enter, follow, isOutdated, line, session, unreachable } from './live.ts';
import { useInbox, type Loaded } from './loading.ts';
import { Navigation, ProjectBar, projectName, Tabs } from './navigation.tsx';
import { Find } from './parts/find.tsx';
import { useNotices, Toast } from './parts/notices.tsx';
import { Loading, Modal, Press } from './parts/shown.tsx';
import { Copy } from './parts/texts.tsx';
import { inLine } from './parts/wording.ts';
import { address, project, refine, route, VIEWS } from './router.ts';
import { shownIn, ViewOf } from './views.tsx';
import { language, offerLanguage, t } from './message.ts';
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
  if (known === undefined) return unreachable.value ? <NoServer /> : <Loading />;
  return <Inside />;
}

function Inside(): VNode {
  const where = project.value;
  const inbox = useInbox();
  const waiting = inbox.data?.items.length;
  useEffect(() => follow(where), [where]);
  useEffect(() => {
    // What is copied from here leads to this project, whichever a server has first.
    refine({});
  }, [where]);
  useIdentity(waiting ?? 0);
  useNotices(inbox.data?.items, projectName());
  return (
    <div class="app">
      <a class="skip" href="#main" onClick={skipped}>
        {t`Skip to the content`}
      </a>
      <ProjectBar waiting={waiting} />
      <Navigation waiting={waiting} />
      <Main inbox={inbox} />
      <Tabs waiting={waiting} />
      <Toast />
      <Keys />
      <Find />
    </div>
  );
}

const ICON = (dot: string): string =>
  `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" fill="#3050c4"/><path d="M6 7h8M6 12h12M6 17h5" stroke="#fff" stroke-width="2" stroke-linecap="round"/>${dot}</svg>`)}`;

/** A tab says which project it shows, and whether something waits there. */
function useIdentity(waiting: number): void {
  const { views } = words.value;
  const { view } = route.value;
  const title = `${projectName()} · ${view === 'unknown' ? 'BMAD' : views[view]}`;
  useEffect(() => {
    document.title = waiting === 0 ? title : `(${waiting}) ${title}`;
  }, [title, waiting]);
  const icon = ICON(waiting === 0 ? '' : '<circle cx="19" cy="5" r="5" fill="#d4342a"/>');
  useEffect(() => {
    document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.setAttribute('href', icon);
  }, [icon]);
}

/** The address belongs to the views, so the jump is made without it. */
function skipped(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('main h1')?.focus();
}

function Main({ inbox }: { inbox: Loaded<Inbox> }): VNode {
  const { view, rest } = route.value;
  const known = session.value;
  const main = useRef<HTMLElement>(null);
  const last = useRef<string | undefined>(undefined);
  const shown = `${view}/${shownIn(route.value)}`;
  useLayoutEffect(() => {
    const isHere = last.current === shown && document.activeElement !== document.body;
    const isArrival = last.current === undefined;
    last.current = shown;
    if (isHere) return;
    scrollTo(0, 0);
    // Who hears the page is told where they are; not on arrival, where the browser does that.
    const [told] = ['.panel-beside', 'h1'].flatMap(
      (each) => main.current?.querySelector<HTMLElement>(each) ?? [],
    );
    if (!isArrival) told?.focus({ preventScroll: true });
  }, [shown, rest.join('/')]);
  return (
    <main id="main" ref={main}>
      <Told is={line.value === 'lost'}>{t`Connection lost; trying again`} …</Told>
      <Told is={isOutdated.value}>
        {t`The server has another version now.`}{' '}
        <Press says={t`Load the page again`} onPress={() => location.reload()} />
      </Told>
      <Told
        is={known?.degraded}
      >{t`The team’s database cannot be used: memories, tasks and runs are shown as this machine knew them last, and nothing can be decided until it is back.`}</Told>
      <Told is={known?.readOnly}>{t`This server is read-only: nothing can be decided here.`}</Told>
      <ViewOf key={shown} inbox={inbox} />
    </main>
  );
}

const Told = ({ is, children }: { is: boolean | undefined; children: ComponentChildren }) =>
  is === true ? (
    <p class="lost" role="status">
      {children}
    </p>
  ) : null;

function SignedOut({ why }: { why: string }): VNode {
  return (
    <main class="bare">
      <h1>{t`You are not signed in`}</h1>
      <p>{inLine(why, 600)}</p>
      <p class="soft">{t`Run this in a terminal; it prints a link that opens this page once:`}</p>
      <Copy text="bmad page" />
      <p>
        <a href={address('inbox')} onClick={() => void enter()}>
          {t`Try again`}
        </a>
      </p>
    </main>
  );
}

function NoServer(): VNode {
  return (
    <main class="bare">
      <h1>{t`The server does not answer. Is it still running?`}</h1>
      <Press class="go" says={t`Try again`} onPress={enter} />
    </main>
  );
}

/** All keys on one sheet. */
function Keys(): VNode {
  const { views } = words.value;
  const rows: [string, string][] = [
    ['?', t`this sheet`],
    ['/  Ctrl K', t`search everything`],
    ['j', t`next entry`],
    ['k', t`previous entry`],
    ['Enter', t`open the entry`],
    ['1 … 9', t`first, second … action of the entry`],
    ['z', t`take back what was just done`],
    ['c', t`copy the next step`],
    ['Esc', t`close, cancel`],
    ...VIEWS.map((view): [string, string] => [`g ${GO[view]}`, views[view]]),
  ];
  return (
    <Modal when={sheet} aria-label={t`Keys`}>
      <h2>{t`Keys`}</h2>
      <dl class="keys">
        {rows.map(([key, says]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{says}</dd>
          </div>
        ))}
      </dl>
      <Press says={t`Close`} onPress={() => (sheet.value = false)} />
    </Modal>
  );
}
