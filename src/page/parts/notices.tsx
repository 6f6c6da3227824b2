import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { InboxItem } from '../answers.ts';
import { keep, kept } from '../kept.ts';
import { t } from '../message.ts';
import { address, go, project } from '../router.ts';
import { Press } from './shown.tsx';
import { inLine } from './wording.ts';
import { perform, saidOf, type Done } from '../api.ts';

interface Told {
  text: string;
  bad?: boolean;
  undo?: (() => Promise<void>) | undefined;
}

/** As long as anyone needs to see what they did, and to think better of it. */
const SHOWN_MS = 8_000;

const told = signal<(Told & { turn: number }) | undefined>(undefined);
let turns = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Says in one line what was done. */
export function tell(said: Told): void {
  told.value = { ...said, turn: (turns += 1) };
  clearTimeout(timer);
  timer = setTimeout(() => (told.value = undefined), SHOWN_MS);
}

/** What takes the last act back, also when its line has gone; the server says when it is too late. */
let last: (() => Promise<void>) | undefined;

/** The act whose answer is still to come: the list may show its effect sooner. */
let underWay: Promise<unknown> | undefined;

export function acting(act: Promise<Done>): Promise<Done> {
  underWay = act.catch(() => undefined);
  return act;
}

/** Says what was done, with its way back where the server names one. */
export function tellDone(text: string, { undo }: Done, of: string | undefined, after: () => void): void {
  last =
    undo &&
    (async () => {
      await perform(undo.operation, { ...(of === undefined ? {} : { project: of }), ...undo.args });
      tell({ text: t`Taken back: ${text}` });
      after();
    });
  tell({ text: t`Done: ${text}`, undo: last });
}

export async function takeBack(): Promise<void> {
  await underWay;
  const undo = last;
  last = undefined;
  if (undo === undefined) return tell({ text: t`There is nothing to take back.` });
  told.value = undefined;
  await undo().catch((error: unknown) => tell({ text: saidOf(error), bad: true }));
}

/** There before anything is told, so that those who hear the page are told, too; the same sentence twice is told twice. */
export const Toast = (): VNode => (
  <div role="status">
    {told.value === undefined ? null : <Line key={told.value.turn} told={told.value} />}
  </div>
);

function Line({ told: value }: { told: Told }): VNode {
  return (
    <aside class={`toast ${value.bad === true ? 'wrong' : ''}`} aria-label={t`Just done`}>
      <span>{inLine(value.text, 160)}</span>
      {value.undo === undefined ? null : (
        <button type="button" onClick={() => void takeBack()}>
          {t`Undo`} <kbd>z</kbd>
        </button>
      )}
    </aside>
  );
}

/** Whether a person wants to be told, outside of the page, of what comes while it is out of sight. */
const wanted = signal(kept('notices') === 'on' && Notification.permission === 'granted');

export function NoticeChoice(): VNode {
  const choose = async (): Promise<void> => {
    wanted.value = !wanted.value && (await Notification.requestPermission()) === 'granted';
    keep('notices', wanted.value ? 'on' : '');
    if (Notification.permission === 'denied')
      tell({ text: t`This browser does not allow notifications of this page.` });
  };
  return <Press class="plain" aria-pressed={wanted.value} says={t`Notify me`} onPress={choose} />;
}

/** Tells once of what has come to wait for a person while nobody looked, without a sound. */
export function useNotices(items: readonly InboxItem[] | undefined, name: string): void {
  const known = useRef<readonly [root?: string, ids?: readonly string[]]>([]);
  // Noted as soon as it is shown: people are not told of what they have just seen in the list.
  useLayoutEffect(() => {
    if (items === undefined) return;
    const [root, before] = known.current;
    known.current = [project.value ?? '', items.map(({ id }) => id)];
    const [first, ...more] =
      root === (project.value ?? '') ? items.filter(({ id }) => before?.includes(id) === false) : [];
    if (first === undefined || !wanted.value || document.visibilityState === 'visible') return;
    const body = more.length === 0 ? inLine(first.title, 120) : `${inLine(first.title, 120)} +${more.length}`;
    const notice = new Notification(name, { body, tag: `bmad ${project.value}`, silent: true });
    notice.addEventListener('click', () => {
      focus();
      go(address('inbox', [], { entry: first.id }));
    });
  }, [items]);
}
