import { t } from '../message.ts';
import type { VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { GO, sheet } from '../keyboard.ts';
import { VIEWS } from '../router.ts';
import { Press } from './shown.tsx';
import { words } from '../words.ts';

/** All keys on one sheet. */
export function Keys(): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const { views } = words.value;
  const open = sheet.value;
  useLayoutEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
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
    <dialog ref={dialog} aria-label={t`Keys`} onClose={() => (sheet.value &&= dialog.current === null)}>
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
    </dialog>
  );
}
