import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { InboxItem } from '../answers.ts';
import { keep, kept } from '../kept.ts';
import { t } from '../message.ts';
import { address, go, project } from '../router.ts';
import { Press } from './shown.tsx';
import { tell } from './toast.tsx';
import { inLine } from './visible.ts';

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
