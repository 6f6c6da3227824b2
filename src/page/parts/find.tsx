import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { finding, sheet } from '../keyboard.ts';
import { useAnswer, useNext } from '../loading.ts';
import { chooseLanguage, language, t } from '../message.ts';
import { address, go, MOVED, VIEWS } from '../router.ts';
import { nextTheme } from '../theme.ts';
import { words } from '../words.ts';
import { wordsOf } from './patterns.ts';
import { useSettled } from './settled.ts';
import { inLine } from './visible.ts';

interface Hit {
  text: string;
  /** What it is. */
  kind: string;
  open: string | (() => void);
}

const MOST = 12;
const LEAST_ASKED = 3;

const hit = (text: string, kind: string, open: Hit['open']): Hit => ({ text, kind, open });

/** Stories, tasks, runs, memories, agents, workflows and what the page can do, found as one types. */
export function Find(): VNode | null {
  return finding.value ? <Dialog /> : null;
}

function Dialog(): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  const [wanted, setAt] = useState(0);
  const found = useFound(typed);
  // What is found changes while it is looked at; one of it is always chosen.
  const at = Math.max(0, Math.min(wanted, found.length - 1));
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    // Whoever changes their mind goes on from where they were.
    return () => current?.close();
  }, []);
  useEffect(() => setAt(0), [typed]);
  const choose = (one: Hit | undefined): void => {
    if (one === undefined) return;
    finding.value = false;
    if (typeof one.open === 'string') go(one.open);
    else one.open();
  };
  return (
    <dialog
      ref={dialog}
      class="find"
      aria-label={t`Search everything`}
      onCancel={() => (finding.value = false)}
      onClose={() => (finding.value &&= dialog.current === null)}
    >
      <input
        type="text"
        aria-label={t`Search everything`}
        placeholder={t`Stories, tasks, runs, memories, agents, views`}
        value={typed}
        role="combobox"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={found.length === 0 ? undefined : `found-${at}`}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') choose(found[at]);
          else if (event.key === 'ArrowDown') setAt(at + 1);
          else if (event.key === 'ArrowUp') setAt(at - 1);
          else return;
          event.preventDefault();
        }}
      />
      <ul id="found" role="listbox" aria-label={t`Search everything`}>
        {found.map((one, index) => (
          <li
            key={`${one.kind} ${one.text} ${index}`}
            id={`found-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => choose(one)}
          >
            <span>{inLine(one.text, 120)}</span>
            <small>{one.kind}</small>
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p class="soft">{t`Nothing matches.`}</p> : null}
    </dialog>
  );
}

/** What is known of the project is looked through here; agents and memories are also found by what they mean. */
function useFound(typed: string): Hit[] {
  const { views, parts } = words.value;
  const kinds: Readonly<Partial<Record<string, string>>> = words.value.catalogue.kinds;
  const next = useNext();
  const tasks = useAnswer('task_list', { status: 'all', limit: 200 }, []);
  const runs = useAnswer('get_workflow_status', {}, []);
  const memories = useAnswer('memory_list', { limit: 200 }, []);
  const asked = useSettled(typed);
  const isAsked = asked.length >= LEAST_ASKED;
  const catalogueHits = useAnswer('search', isAsked ? { query: asked, limit: 8 } : undefined, []);
  const recalled = useAnswer('recall_structured', isAsked ? { query: asked, limit: 5 } : undefined, []);
  const commands: Hit[] = [
    ...VIEWS.map((view) => hit(views[view], t`view`, address(view))),
    ...Object.entries(MOVED).map(([part, to = ['inbox']]) =>
      hit(parts[part] ?? views[to[0]], t`view`, address(to[0], to.slice(1))),
    ),
    hit(t`Change the colours`, t`command`, nextTheme),
    hit(language.value === 'en' ? 'Français' : 'English', t`command`, () =>
      chooseLanguage(language.value === 'en' ? 'fr' : 'en'),
    ),
    hit(t`Keys`, t`command`, () => (sheet.value = true)),
  ];
  const run = runs.data?.run;
  const known: Hit[] = [
    ...(next.data?.items ?? [])
      .filter(({ kind }) => kind === 'story')
      .map(({ id, title = id }) => hit(title, t`story`, address('board', [id]))),
    ...(tasks.data?.tasks ?? []).map(({ task_id, task }) =>
      hit(task, t`task`, address('now', ['tasks', task_id])),
    ),
    ...[...(run === undefined ? [] : [run]), ...(runs.data?.others ?? [])].map(({ run_id }) =>
      hit(run_id, t`run`, address('now', ['runs', run_id])),
    ),
    ...(memories.data?.memories ?? []).map(({ id, type, text }) =>
      hit(text, t`memory`, address('memory', [id], { of: type })),
    ),
  ];
  const wanted = wordsOf(typed);
  if (wanted.length === 0) return commands.slice(0, MOST);
  const fits = ({ text, kind }: Hit): boolean => {
    const whole = `${text} ${kind}`.toLowerCase();
    return wanted.every((word) => whole.includes(word));
  };
  const near: Hit[] = !isAsked
    ? []
    : [
        ...(catalogueHits.data?.items ?? []).map(({ kind, name, module, person }) =>
          hit(
            person === undefined ? name : `${person}, ${name}`,
            kinds[`${kind}s`] ?? kind,
            address('item', [kind, name], { module }),
          ),
        ),
        ...(recalled.data?.hits ?? []).map(({ id, type, snippet }) =>
          hit(snippet, t`memory`, address('memory', [id], { of: type })),
        ),
      ];
  const all = [...commands.filter(fits), ...known.filter(fits), ...near];
  return [...new Map(all.map((one) => [`${one.kind} ${one.text.slice(0, 80)}`, one])).values()].slice(
    0,
    MOST,
  );
}
