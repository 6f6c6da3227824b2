import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { finding, sheet } from '../keyboard.ts';
import { useAnswer, useNext, type Loaded } from '../loading.ts';
import { chooseLanguage, language, t } from '../message.ts';
import { address, go, MOVED, VIEWS } from '../router.ts';
import { nextTheme } from '../kept.ts';
import { words } from '../words.ts';
import { wordsOf, inLine } from './wording.ts';
import { useSettled } from './settled.ts';
import { Modal, Loading } from './shown.tsx';

interface Hit {
  text: string;
  /** What it is. */
  kind: string;
  open: string | (() => void);
}

const MOST = 12;
const LEAST_ASKED = 3;

const keyOf = (one: Hit | undefined): string | undefined => one && `${one.kind} ${one.text.slice(0, 80)}`;

const hit = (text: string, kind: string, open: Hit['open']): Hit => ({ text, kind, open });

/** Stories, tasks, runs, memories, agents, workflows and what the page can do, found as one types. */
export const Find = (): VNode => (
  <Modal when={finding} aria-label={t`Search everything`} class="find">
    <Search />
  </Modal>
);

function Search(): VNode {
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const { found, isOver } = useFound(typed);
  const [isEntered, enter] = useState(false);
  // What is found changes while it is looked at: what somebody has gone to stays chosen, wherever it is then.
  const at = Math.max(
    0,
    found.findIndex((one) => keyOf(one) === chosen),
  );
  const move = (by: 1 | -1): void => setChosen(keyOf(found[Math.max(0, at + by)] ?? found[at]));
  const choose = (one: Hit | undefined): void => {
    if (one === undefined) return enter(true);
    finding.value = false;
    if (typeof one.open === 'string') go(one.open);
    else one.open();
  };
  useEffect(() => {
    // Who was faster than the answer gets it all the same.
    if (isEntered && found.length > 0) choose(found[at]);
  }, [isEntered, found.length]);
  return (
    <>
      <input
        type="text"
        aria-label={t`Search everything`}
        placeholder={t`Stories, tasks, runs, memories, agents, views`}
        value={typed}
        role="combobox"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={found.length === 0 ? undefined : `found-${at}`}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setChosen(undefined);
          enter(false);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') choose(found[at]);
          else if (event.key === 'ArrowDown') move(1);
          else if (event.key === 'ArrowUp') move(-1);
          else return;
          event.preventDefault();
        }}
      />
      <ul id="found" role="listbox" aria-label={t`Search everything`}>
        {found.map((one, index) => (
          <li
            key={keyOf(one)}
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
      {found.length > 0 ? null : isOver ? <p class="soft">{t`Nothing matches.`}</p> : <Loading />}
    </>
  );
}

const isRead = (...all: readonly Loaded<unknown>[]): boolean =>
  all.every(({ data, problem }) => data !== undefined || problem !== undefined);

/**
 * What is known of the project is looked through here; agents and memories are also found by what they mean. Whatever comes
 * late comes below what is shown, so that nothing moves under a key; whether more comes is said with it.
 */
function useFound(typed: string): { found: Hit[]; isOver: boolean } {
  const { views, parts } = words.value;
  const kinds: Readonly<Partial<Record<string, string>>> = words.value.catalogue.kinds;
  const next = useNext();
  const tasks = useAnswer('task_list', { status: 'all', limit: 200 }, []);
  const runs = useAnswer('get_workflow_status', {}, []);
  const memories = useAnswer('memory_list', { limit: 200 }, []);
  const asked = useSettled(typed);
  const isAsked = asked.length >= LEAST_ASKED && asked === typed.trim();
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
  const known: Hit[] = [
    ...(next.data?.items ?? [])
      .filter(({ kind }) => kind === 'story')
      .map(({ id, title = id }) => hit(title, t`story`, address('board', [id]))),
    ...(tasks.data?.tasks ?? []).map(({ task_id, task }) =>
      hit(task, t`task`, address('now', ['tasks', task_id])),
    ),
    ...[runs.data?.run ?? [], runs.data?.others ?? []]
      .flat()
      .map(({ run_id }) => hit(run_id, t`run`, address('now', ['runs', run_id]))),
    ...(memories.data?.memories ?? []).map(({ id, type, text }) =>
      hit(text, t`memory`, address('memory', [id], { of: type })),
    ),
  ];
  const wanted = wordsOf(typed);
  const isKnown = isRead(next, tasks, runs, memories);
  const isOver = isKnown && (isAsked ? isRead(catalogueHits, recalled) : typed.trim().length < LEAST_ASKED);
  if (wanted.length === 0) return { found: commands.slice(0, MOST), isOver: true };
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
  const all = [...commands.filter(fits), ...(isKnown ? [...known.filter(fits), ...near] : [])];
  return { found: [...new Map(all.map((one) => [keyOf(one), one])).values()].slice(0, MOST), isOver };
}
