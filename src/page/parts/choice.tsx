import type { ComponentChildren, VNode } from 'preact';
import { useId, useState } from 'preact/hooks';
import { saidOf } from '../api.ts';
import { t } from '../message.ts';
import { queried, refine } from '../router.ts';
import { Press, Wrong } from './shown.tsx';

/** One of a few, as buttons beside each other; by the way they look, parts of a view or filters of a list. */
export function Choice(of: {
  label: string;
  /** What is chosen now. */
  now: string;
  /** Each with what it is called, and how many it has. */
  among: readonly (readonly [name: string, says: string, count?: number | undefined])[];
  onChoose: (name: string) => void;
  parts?: true;
  children?: ComponentChildren;
}): VNode {
  return (
    <div class={of.parts === true ? 'seg' : 'filters'} role="group" aria-label={of.label}>
      {of.among.map(([name, says, count]) => (
        <button type="button" key={name} aria-pressed={of.now === name} onClick={() => of.onChoose(name)}>
          {says} {count === undefined ? null : <b>{count}</b>}
        </button>
      ))}
      {of.children}
    </div>
  );
}

/** The same in a list that opens, where there are many, or a line has no room. */
export function Select(of: {
  label: string;
  now: string;
  among: readonly (readonly [name: string, says: string])[];
  onChoose: (name: string) => void;
}): VNode {
  const field = useId();
  return (
    <span class="choice">
      <label for={field}>{of.label}</label>
      <select id={field} value={of.now} onChange={(event) => of.onChoose(event.currentTarget.value)}>
        {of.among.map(([name, says]) => (
          <option key={name} value={name}>
            {says}
          </option>
        ))}
      </select>
    </span>
  );
}

/** What is typed here is searched for in this view, and stands in the address. */
export function SearchField({ label }: { label: string }): VNode {
  return (
    <input
      class="search"
      type="search"
      aria-label={label}
      placeholder={label}
      value={queried('q')}
      onInput={(event) => refine({ q: event.currentTarget.value })}
    />
  );
}

const LONGEST = 100_000;

/** A text to write, and what becomes of it; what went wrong is said above the buttons, and the text stays. */
export function TextForm(of: {
  label: string;
  say: string;
  text?: string;
  /** The key that leads here from its entry. */
  act?: number;
  onSend: (text: string) => Promise<void>;
  onCancel?: () => void;
}): VNode {
  const field = useId();
  const [text, setText] = useState(of.text ?? '');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const send = async (): Promise<void> => {
    setBusy(true);
    await of.onSend(text).catch((error: unknown) => setProblem(saidOf(error)));
    setBusy(false);
  };
  return (
    <form
      class="answer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label for={field} data-act={of.act} data-key={of.act}>
        {of.label}
      </label>
      <textarea
        id={field}
        autoFocus={of.onCancel !== undefined}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
            event.currentTarget.form?.requestSubmit();
        }}
        rows={4}
        required
        maxLength={LONGEST}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <Wrong text={problem} />
      <button type="submit" class="go" disabled={busy}>
        {of.say}
      </button>{' '}
      {of.onCancel === undefined ? null : <Press class="plain" says={t`Cancel`} onPress={of.onCancel} />}
    </form>
  );
}
