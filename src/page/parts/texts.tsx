import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Evidence } from '../answers.ts';
import { number, plural, t } from '../message.ts';
import { address } from '../router.ts';
import { isEverywhere, hiddenIn, inLine, placeText, visible } from './wording.ts';
import { Press } from './shown.tsx';
import { words } from '../words.ts';

/** As much as is read at a glance; the rest is one click away, in place. */
const LINES = 8;
/** As much of a text as a screen takes without a pause; the rest comes when it is asked for. */
const AT_ONCE = 8_000;

/** A text to the letter: nothing is interpreted, hidden characters are shown. With `lines` only so many come at once. */
export function Exact({ text, label, lines }: { text: string; label?: string; lines?: number }): VNode {
  const [whole, setWhole] = useState(false);
  const all = lines === undefined ? [] : text.split('\n');
  const isClipped = !whole && lines !== undefined && all.length > lines;
  const first = isClipped ? all.slice(0, lines).join('\n') : text;
  const shown = whole ? text : first.slice(0, AT_ONCE);
  const hidden = hiddenIn(text);
  const read = useRef<HTMLPreElement>(null);
  const left = number(text.length - shown.length);
  return (
    <figure class="exact">
      <figcaption>
        {label}
        {hidden === 0 ? null : <strong class="bad">{plural(hidden, 'hidden character')}</strong>}
      </figcaption>
      <pre ref={read} class={isClipped ? 'clipped' : ''} tabIndex={0} aria-label={label ?? t`Text`}>
        {visible(shown)}
      </pre>
      {shown === text ? null : (
        <Press
          says={isClipped ? t`Read all ${all.length} lines` : t`Show the other ${left} characters`}
          onPress={() => {
            setWhole(true);
            // The button goes; keys go on from the text.
            read.current?.focus();
          }}
        />
      )}
    </figure>
  );
}

/** The texts that are decided on, two versions beside each other; what the title says to the letter is not said again. */
export function Exacts(of: { title: string; texts: readonly { name: string; text: string }[] }): VNode {
  const { texts } = words.value.inbox;
  const isPair = of.texts.every(({ name }) => name === 'newer' || name === 'older');
  const left = isPair ? of.texts : of.texts.filter(({ text }) => !inLine(of.title).endsWith(text));
  return (
    <div class={isPair ? 'beside-texts' : ''}>
      {left.map(({ name, text }) => (
        <Exact key={name} text={text} label={texts[name] ?? name} lines={LINES} />
      ))}
    </div>
  );
}

/** The last part of a path says which file it is; the whole one is in its title. */
function shortPlace(evidence: Evidence): string {
  const parts = placeText(evidence).split('/');
  return parts.slice(isEverywhere(parts.at(-1) ?? '') ? -2 : -1).join('/');
}

export function Proofs({ evidence }: { evidence: readonly Evidence[] | undefined }): VNode | null {
  if (evidence === undefined || evidence.length === 0) return null;
  return (
    <p class="proof">
      {evidence.slice(0, 8).map((each, index) => (
        <span key={`${placeText(each)} ${each.says ?? ''}`} title={inLine(placeText(each))}>
          {index === 0 ? '' : ' · '}
          {inLine(shortPlace(each))}
          {each.says === undefined ? '' : ` ${inLine(each.says)}`}
        </span>
      ))}
      {evidence.length > 8 ? ` · +${evidence.length - 8}` : ''}
    </p>
  );
}

/** Facts one below the other, small and to the letter. */
export function Reasons({ items }: { items: readonly string[] }): VNode {
  return (
    <ul class="reasons proof">
      {items
        .filter((each) => each !== '')
        .slice(0, 200)
        .map((each) => (
          <li key={each}>{inLine(each, 600)}</li>
        ))}
    </ul>
  );
}

/** A line to paste elsewhere; `main` is the one thing to do in a view. */
export function Copy(of: { text: string; main?: boolean; bare?: boolean; says?: string | undefined }): VNode {
  const { text, main, bare, says = t`Copy` } = of;
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text).catch(() => undefined);
    setCopied(true);
  };
  return (
    <span class={`copy ${main === true ? 'large' : ''}`}>
      {bare === true ? null : <code>{visible(text)}</code>}
      <button
        type="button"
        title={bare === true ? visible(text) : undefined}
        class={main === true ? 'go' : ''}
        data-key={main === true ? 'c' : undefined}
        aria-label={`${says}: ${text}`}
        onClick={() => void copy()}
      >
        <span role="status">{copied ? t`Copied.` : says}</span>
      </button>
    </span>
  );
}

/** What to paste into a host, so that an agent sees to what fails. */
export const RepairRequest = ({ what }: { what: string }): VNode => (
  <Copy
    bare
    says={t`Copy a repair request`}
    text={t`Repair what fails, then run the completion contract: ${inLine(what, 400)}`}
  />
);

export const AllowFirst = (): VNode => (
  <a href={address('inbox', [], { entry: 'trust' })}>{t`Its programs may run here once you allow them`}</a>
);
