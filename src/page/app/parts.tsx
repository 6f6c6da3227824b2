import { t } from '../message.ts';
import type { VNode } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Evidence } from '../answers.ts';
import { inLine, placeText } from '../parts/wording.ts';
import { readData, say } from './bridge.ts';

export interface Read<T> {
  data: T | undefined;
  error: string | undefined;
  reload(): void;
}

/** Reads anew whenever what is asked for changes; an answer that comes late for something else is dropped. */
export function useData<T>(args: Readonly<Record<string, unknown>>): Read<T> {
  const key = JSON.stringify(args);
  const [state, setState] = useState<{ key: string; data?: T; error?: string }>({ key });
  const load = useCallback(() => {
    let left = false;
    readData<T>(JSON.parse(key) as Record<string, unknown>).then(
      (found) => left || setState({ key, data: found }),
      (error: Error) => left || setState((old) => ({ ...old, error: error.message })),
    );
    return () => void (left = true);
  }, [key]);
  useEffect(load, [load]);
  return { data: state.data, error: state.error, reload: () => void load() };
}

export function Problem({ error, reload }: Pick<Read<unknown>, 'error' | 'reload'>): VNode | null {
  if (error === undefined) return null;
  return (
    <p class="bad" role="alert">
      {inLine(error, 600)}{' '}
      <button type="button" onClick={reload}>
        {t`Try again`}
      </button>
    </p>
  );
}

export function Proof({ evidence }: { evidence: readonly Partial<Evidence>[] }): VNode | null {
  if (evidence.length === 0) return null;
  return (
    <p class="proof">
      {evidence.slice(0, 6).map(({ file, line, says }, index) => (
        <span key={`${file} ${line} ${says}`}>
          {index === 0 ? '' : ' · '}
          {inLine([placeText({ file, line }), says].filter(Boolean).join(' '), 200)}
        </span>
      ))}
    </p>
  );
}

/** A sentence for the conversation. The host decides whether it is said; here it is only offered. */
export function Say(of: {
  text: string;
  label: string;
  name?: string;
  main?: boolean;
  onSent?: () => void;
}): VNode {
  const [state, setState] = useState<'ready' | 'sending' | 'sent' | 'refused'>('ready');
  const press = async (): Promise<void> => {
    setState('sending');
    const taken = await say(of.text);
    setState(taken ? 'sent' : 'refused');
    if (taken) of.onSent?.();
  };
  return (
    <span class="say">
      <button
        type="button"
        class={of.main === true ? 'go' : ''}
        aria-label={of.name}
        disabled={state === 'sending' || state === 'sent'}
        onClick={() => void press()}
      >
        {of.label}
      </button>
      <span role="status" class="soft">
        {state === 'sent'
          ? t`Sent to the conversation`
          : state === 'refused'
            ? t`The host did not take it. Type it in the conversation:`
            : ''}
        {state === 'refused' ? <code>{of.text}</code> : null}
      </span>
    </span>
  );
}
