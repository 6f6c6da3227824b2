import { signal } from '@preact/signals';
import type { VNode } from 'preact';

const said = signal('');

/** Tells those who hear the page what has happened; the same sentence twice is told twice. */
export function announce(text: string): void {
  said.value = said.value === text ? `${text} ` : text;
}

export function Announced(): VNode {
  return (
    <p class="heard" role="status">
      {said.value}
    </p>
  );
}
