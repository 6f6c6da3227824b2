import { t } from '../message.ts';
import type { Signal } from '@preact/signals';
import type { ComponentProps, VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { GO, sheet } from '../keyboard.ts';
import { VIEWS } from '../router.ts';
import { Press } from './shown.tsx';
import { words } from '../words.ts';

type Asked = ComponentProps<'dialog'> & { when: Signal<boolean> };

/** In front of everything, until it is closed; whoever changes their mind goes on from where they were. */
export const Modal = (of: Asked): VNode | null => (of.when.value ? <Opened {...of} /> : null);

function Opened({ when, ...how }: Asked): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog
      {...how}
      ref={dialog}
      onCancel={() => (when.value = false)}
      onClose={() => (when.value &&= dialog.current === null)}
    />
  );
}

/** All keys on one sheet. */
export function Keys(): VNode {
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
