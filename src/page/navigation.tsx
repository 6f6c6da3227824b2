import type { VNode } from 'preact';
import { GO, sheet } from './keyboard.ts';
import { line, session } from './live.ts';
import { lastName } from './parts/patterns.ts';
import { inLine } from './parts/visible.ts';
import { address, go, project, route, VIEWS, type View } from './router.ts';
import { nextTheme, theme } from './theme.ts';
import { chooseLanguage, language } from './message.ts';
import { words } from './words.ts';

const names = Object.keys(VIEWS) as View[];

export function Navigation({ waiting }: { waiting: number | undefined }): VNode {
  const { shell, views } = words.value;
  const here = route.value.view === 'item' ? 'catalogue' : route.value.view;
  return (
    <nav aria-label={shell.navigation}>
      <Project />
      {names.map((view, index) => (
        <>
          {index > 0 && VIEWS[names[index - 1] ?? view] !== VIEWS[view] ? <hr key={`${view} line`} /> : null}
          <a
            key={view}
            href={address(view)}
            aria-current={here === view ? 'page' : undefined}
            aria-keyshortcuts={`g ${GO[view]}`}
          >
            {views[view]}
            {view === 'inbox' && waiting !== undefined && waiting > 0 ? <b>{waiting}</b> : null}
          </a>
        </>
      ))}
      <div class="foot">
        <p>
          <i class={`dot ${line.value}`} aria-hidden="true" />{' '}
          {shell[line.value === 'lost' ? 'lost' : line.value]}
        </p>
        <p>
          <button type="button" class="plain" onClick={nextTheme}>
            {shell.theme}: {shell.themes[theme.value]}
          </button>
        </p>
        <p>
          <button
            type="button"
            class="plain"
            lang={language.value === 'en' ? 'fr' : 'en'}
            onClick={() => chooseLanguage(language.value === 'en' ? 'fr' : 'en')}
          >
            {language.value === 'en' ? 'Français' : 'English'}
          </button>
          {' · '}
          <button
            type="button"
            class="plain"
            onClick={() => {
              sheet.value = true;
            }}
          >
            {shell.keys} <kbd>?</kbd>
          </button>
        </p>
      </div>
    </nav>
  );
}

function Project(): VNode {
  const known = session.value;
  const { shell } = words.value;
  const all = known?.projects ?? [];
  const root = project.value ?? known?.project ?? '';
  const name = all.find((each) => each.root === root)?.name ?? lastName(root);
  return (
    <div class="project">
      {all.length < 2 ? (
        <span title={inLine(root)}>{inLine(name === '' ? 'BMAD' : name, 40)}</span>
      ) : (
        <select
          aria-label={shell.project}
          value={root}
          onChange={(event) => go(address('inbox', [], { project: event.currentTarget.value }))}
        >
          {all.map((each) => (
            <option key={each.root} value={each.root}>
              {inLine(each.name, 40)}
            </option>
          ))}
        </select>
      )}
      <small>BMAD MCP Server {known?.version}</small>
    </div>
  );
}
