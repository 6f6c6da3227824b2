import type { ComponentChildren, VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../message.ts';
import { inLine } from './visible.ts';

/** One item of a list, opened beside it under its own address. Closing it gives the focus back. */
export function Beside(of: { about: string; back: string; children: ComponentChildren }): VNode {
  const panel = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const { activeElement: from } = document;
    const { current } = panel;
    current?.focus({ preventScroll: true });
    return () => {
      const { activeElement: now, body } = document;
      const isStillHere = now === body || current?.contains(now) === true;
      if (isStillHere && from instanceof HTMLElement) from.focus();
    };
  }, []);
  return (
    <aside class="panel-beside" ref={panel} tabIndex={-1} aria-label={inLine(of.about, 80)} data-reader>
      <p class="top">
        <a class="plain" href={of.back} data-close>
          {t`Close`} <kbd>Esc</kbd>
        </a>
      </p>
      {of.children}
    </aside>
  );
}
