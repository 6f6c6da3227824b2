import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { GO, sheet } from '../keyboard.ts';
import { VIEWS } from '../router.ts';
import { words } from '../words.ts';

/** All keys on one sheet. */
export function Keys(): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const { keys, shell, views } = words.value;
  const open = sheet.value;
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  const rows: [string, string][] = [
    ['?', keys.sheet],
    ['/', keys.search],
    ['j', keys.down],
    ['k', keys.up],
    ['Enter', keys.open],
    ['1 … 9', keys.act],
    ['Esc', keys.back],
    ...VIEWS.map((view): [string, string] => [`g ${GO[view]}`, views[view]]),
  ];
  return (
    <dialog
      ref={dialog}
      aria-label={keys.title}
      onClose={() => {
        sheet.value = false;
      }}
    >
      <h2>{keys.title}</h2>
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
      <button
        type="button"
        onClick={() => {
          sheet.value = false;
        }}
      >
        {shell.close}
      </button>
    </dialog>
  );
}
