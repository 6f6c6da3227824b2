import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { GO, sheet } from './keyboard.ts';
import { line, session } from './live.ts';
import { chooseLanguage, language } from './message.ts';
import { lastName } from './parts/patterns.ts';
import { inLine } from './parts/visible.ts';
import { address, project, route, VIEWS, type Place, type View } from './router.ts';
import { nextTheme, theme } from './theme.ts';
import { words } from './words.ts';

/** The folder of the project that is looked at. */
const projectRoot = (): string => project.value ?? session.value?.project ?? '';

export function projectName(root = projectRoot()): string {
  const known = session.value?.projects.find((each) => each.root === root)?.name;
  const name = known ?? lastName(root);
  return inLine(name === '' ? 'BMAD' : name, 40);
}

const placeNow = (): Place | 'unknown' => (route.value.view === 'item' ? 'catalogue' : route.value.view);

const Logo = (): VNode => (
  <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
    <rect width="24" height="24" rx="6" />
    <path d="M6 7h8M6 12h12M6 17h5" />
  </svg>
);

/** Beside the views on a wide screen. */
export function Navigation({ waiting }: { waiting: number | undefined }): VNode {
  const { shell } = words.value;
  return (
    <nav class="side" aria-label={shell.navigation}>
      <Project />
      {VIEWS.filter((view) => view !== 'health').map((view) => (
        <Entry key={view} view={view} count={view === 'inbox' ? waiting : undefined} />
      ))}
      <div class="foot">
        <Entry view="health" />
        <Standing />
        <div class="choices">
          <ThemeChoice />
          <LanguageChoice />
          <button
            type="button"
            class="plain"
            aria-label={shell.keys}
            onClick={() => {
              sheet.value = true;
            }}
          >
            <kbd>?</kbd>
          </button>
        </div>
      </div>
    </nav>
  );
}

function Entry({ view, count = 0 }: { view: View; count?: number | undefined }): VNode {
  return (
    <a
      class="nav"
      href={address(view)}
      aria-current={placeNow() === view ? 'page' : undefined}
      aria-keyshortcuts={`g ${GO[view]}`}
    >
      {words.value.views[view]}
      {count === 0 ? null : <b>{count}</b>}
    </a>
  );
}

/** What is below on a phone; the rest is behind the last of them. */
const TABS: readonly (readonly [Place, string])[] = [
  ['inbox', 'M3 11 5 4h10l2 7v5H3zM3 11h4l1 2h4l1-2h4'],
  ['now', 'M2 10h4l2-5 4 10 2-5h4'],
  ['board', 'M3 4h4v12H3zM8.5 4h4v8h-4zM14 4h3v5h-3z'],
  ['memory', 'M5 3h10v14l-5-3-5 3z'],
  ['more', 'M4 6h12M4 10h12M4 14h12'],
];

export function Tabs({ waiting = 0 }: { waiting: number | undefined }): VNode {
  const { shell, views } = words.value;
  const place = placeNow();
  const here = TABS.some(([tab]) => tab === place) ? place : 'more';
  return (
    <nav class="tabs" aria-label={shell.tabs}>
      {TABS.map(([tab, drawn]) => (
        <a key={tab} href={address(tab)} aria-current={tab === here ? 'page' : undefined}>
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d={drawn} />
          </svg>
          {views[tab]}
          {tab === 'inbox' && waiting > 0 ? <b>{waiting}</b> : null}
        </a>
      ))}
    </nav>
  );
}

/** The project, above everything on a phone. */
export function ProjectBar(): VNode {
  return (
    <header class="topbar">
      <Project />
      <Standing />
    </header>
  );
}

/** Whether what is shown is live, and how many hosts are at work here. */
export function Standing(): VNode {
  const { shell } = words.value;
  const root = projectRoot();
  const hosts = (session.value?.instances ?? []).filter(
    ({ kind, roots }) => kind === 'stdio' && roots.includes(root),
  ).length;
  return (
    <p class="standing">
      <i class={`dot ${line.value}`} aria-hidden="true" />
      {line.value === 'live' && hosts > 0 ? shell.liveWith(hosts) : shell[line.value]}
    </p>
  );
}

export function ThemeChoice(): VNode {
  const { shell } = words.value;
  return (
    <button type="button" class="plain" onClick={nextTheme}>
      {shell.theme(shell.themes[theme.value])}
    </button>
  );
}

export function LanguageChoice(): VNode {
  const other = language.value === 'en' ? 'fr' : 'en';
  return (
    <button type="button" class="plain" lang={other} onClick={() => chooseLanguage(other)}>
      {other === 'fr' ? 'Français' : 'English'}
    </button>
  );
}

/** Which project this is, and the way to the others. */
function Project(): VNode {
  const menu = useRef<HTMLDetailsElement>(null);
  const { shell } = words.value;
  const all = session.value?.projects ?? [];
  const root = projectRoot();
  const close = (): void => {
    if (menu.current !== null) menu.current.open = false;
  };
  const name = (
    <>
      <Logo />
      <b title={inLine(root)}>{projectName()}</b>
    </>
  );
  if (all.length < 2) return <p class="project">{name}</p>;
  return (
    <details
      class="project menu"
      ref={menu}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        close();
        menu.current?.querySelector('summary')?.focus();
      }}
    >
      <summary aria-label={`${shell.project}: ${projectName()}`}>{name}</summary>
      <ul class="drop">
        {all.map((each) => (
          <li key={each.root}>
            <a
              href={address('inbox', [], { project: each.root })}
              title={inLine(each.root)}
              aria-current={each.root === root ? 'true' : undefined}
              onClick={close}
            >
              {inLine(each.name, 40)}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}
