import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { GO, finding, sheet } from './keyboard.ts';
import { line, openHosts, session } from './live.ts';
import { useActivity, useElsewhere, useNext } from './loading.ts';
import { chooseLanguage, language, number, plural, t } from './message.ts';
import { NoticeChoice } from './parts/notices.tsx';
import { lastName, inLine } from './parts/wording.ts';
import { useSettled } from './parts/settled.ts';
import { Heading, Press } from './parts/shown.tsx';
import { type Place, VIEWS, type View, address, project, route } from './router.ts';
import { nextTheme, theme } from './kept.ts';
import { useRepairs } from './views/health.tsx';
import { words } from './words.ts';

export function projectName(root = project.value ?? ''): string {
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

/** What a view has to tell before it is opened. */
interface Mark {
  text: string;
  tone?: 'count' | 'bad';
}

function useMarks(waiting: number | undefined): Partial<Record<View, Mark>> {
  const atWork = useActivity().data?.work.filter(({ now }) => now).length ?? 0;
  const totals = useNext().data?.totals;
  // It is not what somebody has come for: asked once what they see is there.
  const { broken, newest, isKnown } = useRepairs(
    useSettled(waiting === undefined ? '' : 'there', 1_000) !== '',
  );
  return {
    ...(waiting === undefined || waiting === 0
      ? {}
      : { inbox: { text: number(waiting), tone: 'count' as const } }),
    ...(atWork === 0 ? {} : { now: { text: t`${atWork} at work` } }),
    ...(totals === undefined || totals.stories === 0
      ? {}
      : { board: { text: `${number(totals.done)} / ${number(totals.stories)}` } }),
    ...(newest?.status === 'FAIL' ? { proof: { text: t`failed`, tone: 'bad' as const } } : {}),
    ...(broken.length === 0 || !isKnown ? {} : { health: { text: t`${broken.length} to repair` } }),
  };
}

/** Beside the views on a wide screen. */
export function Navigation({ waiting }: { waiting: number | undefined }): VNode {
  const marks = useMarks(waiting);
  return (
    <nav class="side" aria-label={t`Views`}>
      <Project waiting={waiting} />
      <button type="button" class="finder" onClick={() => (finding.value = true)}>
        {t`Search`} <kbd>Ctrl K</kbd>
      </button>
      {VIEWS.filter((view) => view !== 'health').map((view) => (
        <Entry key={view} view={view} mark={marks[view]} />
      ))}
      <div class="foot">
        <Entry view="health" mark={marks.health} />
        <div class="choices">
          <Standing />
          <button type="button" class="plain" aria-label={t`Keys`} onClick={() => (sheet.value = true)}>
            <kbd>?</kbd>
          </button>
        </div>
        <div class="choices">
          <ThemeChoice />
          <LanguageChoice />
          <NoticeChoice />
        </div>
      </div>
    </nav>
  );
}

function Entry({ view, mark }: { view: View; mark: Mark | undefined }): VNode {
  return (
    <a
      class="nav"
      href={address(view)}
      aria-current={placeNow() === view ? 'page' : undefined}
      aria-keyshortcuts={`g ${GO[view]}`}
    >
      {words.value.views[view]}
      {mark === undefined ? null : <b class={mark.tone ?? ''}>{mark.text}</b>}
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
  const { views } = words.value;
  const place = placeNow();
  const here = TABS.some(([tab]) => tab === place) ? place : 'more';
  return (
    <nav class="tabs" aria-label={t`Main views`}>
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
export function ProjectBar({ waiting }: { waiting: number | undefined }): VNode {
  return (
    <header class="topbar">
      <Project waiting={waiting} />
      <Press class="plain" says={t`Search`} onPress={() => (finding.value = true)} />
    </header>
  );
}

/** Whether what is shown is live, and how many hosts are at work here. */
function Standing(): VNode {
  const { shell } = words.value;
  const hosts = openHosts().length;
  return (
    <p class="standing">
      <i class={`dot ${line.value}`} aria-hidden="true" />
      {line.value === 'live' && hosts > 0 ? t`Live · ${plural(hosts, 'host')}` : shell[line.value]}
    </p>
  );
}

function ThemeChoice(): VNode {
  const { themes } = words.value.shell;
  return <Press class="plain" title={themes[theme.value]} says={t`Theme`} onPress={nextTheme} />;
}

function LanguageChoice(): VNode {
  const other = language.value === 'en' ? 'fr' : 'en';
  const says = other === 'fr' ? 'Français' : 'English';
  return <Press class="plain" lang={other} says={says} onPress={() => chooseLanguage(other)} />;
}

/** Which project this is, and the way to the others; what waits in those is asked when the menu opens. */
function Project({ waiting }: { waiting: number | undefined }): VNode {
  const menu = useRef<HTMLDetailsElement>(null);
  const [open, setOpen] = useState(false);
  const { shell } = words.value;
  const all = session.value?.projects ?? [];
  const root = project.value ?? '';
  const branch = all.find((each) => each.root === root)?.branch;
  const others = useElsewhere(open ? all.map((each) => each.root).filter((each) => each !== root) : []);
  const close = (): void => {
    if (menu.current !== null) menu.current.open = false;
  };
  const countOf = (each: string): number | undefined =>
    each === root ? waiting : others.data?.find((one) => one.root === each)?.inbox?.items.length;
  const name = (
    <>
      <Logo />
      <span>
        <b title={inLine(root)}>{projectName()}</b>
        {branch === undefined ? null : <small title={t`Branch`}>{inLine(branch, 60)}</small>}
      </span>
    </>
  );
  if (all.length < 2) return <p class="project">{name}</p>;
  return (
    <details
      class="project menu"
      ref={menu}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        close();
        menu.current?.querySelector('summary')?.focus();
      }}
    >
      <summary aria-label={`${t`Project`}: ${projectName()}`}>{name}</summary>
      <ul class="drop">
        {all.map((each) => (
          <li key={each.root}>
            <a
              href={address('inbox', [], { project: each.root })}
              title={inLine(each.root)}
              aria-current={each.root === root ? 'true' : undefined}
              onClick={close}
            >
              {inLine(each.name, 40)} <small>{shell.waiting(countOf(each.root))}</small>
            </a>
          </li>
        ))}
        <li>
          <a href={address('inbox', [], { of: 'all' })} onClick={close}>
            {t`All projects`}
          </a>
        </li>
      </ul>
    </details>
  );
}

/** What a phone has no room for below. */
export function More(): VNode {
  const { views } = words.value;
  const marks = useMarks(0);
  return (
    <>
      <Heading title={views.more} />
      <div class="list more-list">
        {(['proof', 'catalogue', 'health'] as const).map((view) => (
          <a key={view} href={address(view)}>
            {views[view]} <b class={marks[view]?.tone ?? ''}>{marks[view]?.text}</b>
          </a>
        ))}
      </div>
      <div class="list more-list">
        <ThemeChoice />
        <LanguageChoice />
        <NoticeChoice />
      </div>
      <Standing />
    </>
  );
}
