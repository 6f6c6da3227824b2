import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Evidence } from '../answers.ts';
import { number } from '../message.ts';
import { words } from '../words.ts';
import { isEverywhere } from './patterns.ts';
import { hiddenIn, inLine, visible } from './visible.ts';

/** As much of a text as a screen takes without a pause; the rest comes when it is asked for. */
const AT_ONCE = 8_000;

/**
 * A text to the letter: nothing is interpreted, hidden characters are shown, and its length is said. With `lines` only so many
 * come at once.
 */
export function Exact({ text, label, lines }: { text: string; label?: string; lines?: number }): VNode {
  const [whole, setWhole] = useState(false);
  const { shell } = words.value;
  const all = lines === undefined ? [] : text.split('\n');
  const isClipped = !whole && lines !== undefined && all.length > lines;
  const first = isClipped ? all.slice(0, lines).join('\n') : text;
  const shown = whole ? text : first.slice(0, AT_ONCE);
  const hidden = hiddenIn(text);
  const left = number(text.length - shown.length);
  return (
    <figure class="exact">
      <figcaption>
        {label === undefined ? null : `${label}, `}
        {shell.characters(number(text.length))}
        {hidden === 0 ? null : <strong class="bad"> · {shell.hidden(hidden)}</strong>}
      </figcaption>
      <pre
        class={isClipped ? 'clipped' : ''}
        tabIndex={0}
        aria-label={label ?? shell.characters(number(text.length))}
      >
        {visible(shown)}
      </pre>
      {shown === text ? null : (
        <button type="button" onClick={() => setWhole(true)}>
          {isClipped ? shell.readAll(all.length) : shell.showAll(left)}
        </button>
      )}
    </figure>
  );
}

const placeOf = ({ file, line }: Evidence): string => (line === undefined ? file : `${file}:${line}`);

/** The last part of a path says which file it is; the whole one is in its title. */
function shortPlace(evidence: Evidence): string {
  const parts = placeOf(evidence).split('/');
  return parts.slice(isEverywhere(parts.at(-1) ?? '') ? -2 : -1).join('/');
}

export function Proofs({ evidence }: { evidence: readonly Evidence[] | undefined }): VNode | null {
  if (evidence === undefined || evidence.length === 0) return null;
  return (
    <p class="proof">
      {evidence.slice(0, 8).map((each, index) => (
        <span key={`${placeOf(each)} ${each.says ?? ''}`} title={inLine(placeOf(each))}>
          {index === 0 ? '' : ' · '}
          {inLine(shortPlace(each))}
          {each.says === undefined ? '' : ` ${inLine(each.says)}`}
        </span>
      ))}
      {evidence.length > 8 ? ` · +${evidence.length - 8}` : ''}
    </p>
  );
}

export function Copy({ text, label }: { text: string; label?: string }): VNode {
  const [copied, setCopied] = useState(false);
  const { shell } = words.value;
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text).catch(() => undefined);
    setCopied(true);
  };
  return (
    <span class="copy">
      <code>{visible(text)}</code>
      <button type="button" aria-label={`${shell.copy}: ${label ?? text}`} onClick={() => void copy()}>
        <span role="status">{copied ? shell.copied : shell.copy}</span>
      </button>
    </span>
  );
}

export function Bar({ done, all, label }: { done: number; all: number; label: string }): VNode {
  const part = all === 0 ? 0 : Math.min(1, done / all);
  return (
    <div class="bar" role="img" aria-label={label}>
      <i class={part === 1 ? '' : 'w'} style={{ width: `${Math.round(part * 100)}%` }} />
    </div>
  );
}
