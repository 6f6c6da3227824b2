import { labelled, t } from '../message.ts';
import type { ComponentChildren, VNode } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Action } from '../answers.ts';
import { perform, saidOf } from '../api.ts';
import { session } from '../live.ts';
import { address, go, project } from '../router.ts';
import { isOfTheMachine } from './wording.ts';
import { acting, tell, tellDone } from './notices.tsx';
import { Press, Wrong } from './shown.tsx';
import { stateOf } from '../words.ts';

/** What only shows something has a view for it. */
function shownAt({ operation, args }: Action): string | undefined {
  if (operation === 'sources_diff') return address('catalogue', ['sources']);
  if (operation === 'run_resume' && typeof args['run_id'] === 'string')
    return address('now', ['runs', args['run_id']]);
  return undefined;
}

/** Decides nothing, whatever comes of it: what it is about stays where it is. */
const LOOKS = new Set(['run_completion_contract', 'sources_update']);

interface Acting {
  actions: readonly Action[];
  /** What they are about, for those who do not see it. */
  about: string;
  /** The project they are about, where it is not the one that is looked at. */
  where?: string | undefined;
  /** Whether the keys that press them are shown on them, and how many others come before them. */
  keyed?: boolean;
  after?: number;
  /** What stands beside them. */
  children?: ComponentChildren;
  /** Told whether it decides something. */
  onDone: (decides: boolean) => void;
  /** After it was taken back; as after it was done, where nothing is said. */
  onUndone?: () => void;
}

/** Buttons of one thing. What cannot be undone asks a second time, beside the text that is decided on. */
export function Actions(of: Acting): VNode | null {
  const { actions, about, onDone, children, after = 0 } = of;
  const [open, setOpen] = useState<Action | undefined>(undefined);
  const [busy, setBusy] = useState<Action | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  if ((actions.length === 0 && !children) || session.value?.readOnly === true) return null;

  const run = async (action: Action, word = ''): Promise<void> => {
    const { operation, label, needs: [asked] = [] } = action;
    const decides = !LOOKS.has(operation);
    const where = isOfTheMachine(operation) ? undefined : (of.where ?? project.value);
    setBusy(action);
    setProblem(undefined);
    try {
      const act = perform(operation, {
        ...(where === undefined || !decides ? {} : { project: where }),
        ...action.args,
        ...(asked === undefined ? {} : { [asked]: word }),
      });
      const done = await (decides ? acting(act) : act);
      setOpen(undefined);
      const { status } = done.data as { status?: string };
      if (decides) tellDone(`${label} · ${about}`, done, where, of.onUndone ?? (() => onDone(true)));
      else if (status !== undefined) tell({ text: labelled(label, stateOf(status)), bad: status === 'FAIL' });
      onDone(decides);
    } catch (error) {
      setProblem(saidOf(error));
    } finally {
      setBusy(undefined);
    }
  };
  const pressed = (action: Action): void => {
    const place = shownAt(action);
    if (place !== undefined) go(place);
    else if (action.danger === true || action.asks === true || action.needs?.length) setOpen(action);
    else void run(action);
  };
  // Of equal choices none is the first.
  const leads = actions[0]?.danger !== true && !actions.some(({ equal }) => equal === true);
  return (
    <div class="acts">
      <Wrong text={problem ?? ''} />
      {open === undefined ? (
        <>
          {actions.map((action, index) => (
            <button
              type="button"
              key={action.label}
              class={index === 0 && leads ? 'go' : action.danger === true ? 'no' : ''}
              aria-label={`${action.label}: ${about}`}
              data-act={after + index + 1}
              data-key={of.keyed === true ? after + index + 1 : undefined}
              disabled={busy !== undefined}
              onClick={() => pressed(action)}
            >
              {busy === action ? `${t`Working`} …` : action.label}
              {action.needs?.length && busy !== action ? '…' : ''}
            </button>
          ))}
          {children}
        </>
      ) : (
        <Sure
          action={open}
          busy={busy !== undefined}
          onYes={(word) => void run(open, word)}
          onNo={() => setOpen(undefined)}
        />
      )}
    </div>
  );
}

/** A second question, or the reason that is asked for. */
function Sure(of: { action: Action; busy: boolean; onYes: (word: string) => void; onNo: () => void }): VNode {
  const { action, busy, onNo } = of;
  const [word, setWord] = useState('');
  const first = useRef<HTMLElement>(null);
  const field = useId();
  const isAsked = Boolean(action.needs?.length);
  /** To where keys go on from. */
  const back = (): void => {
    const list = first.current?.closest('.mail');
    const place =
      list?.querySelector('[aria-current]') ?? first.current?.closest('[data-entry], [data-reader]');
    onNo();
    if (place instanceof HTMLElement) place.focus();
  };
  // Before the next key is read, which the person may be typing already.
  useLayoutEffect(() => first.current?.focus(), []);
  return (
    <form
      class="sure"
      onSubmit={(event) => {
        event.preventDefault();
        of.onYes(word.trim());
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        back();
      }}
    >
      {!isAsked ? (
        <p>
          {action.operation === 'trust'
            ? t`Programs of this project then run on this machine. It can be withdrawn in a terminal only.`
            : action.operation === 'complete_handoff'
              ? t`It is closed without an answer, which cannot be undone here.`
              : t`This cannot be undone here.`}
        </p>
      ) : (
        <>
          <label for={field}>{t`Reason`}</label>
          <input
            id={field}
            ref={(element) => {
              first.current = element;
            }}
            value={word}
            required
            maxLength={2000}
            onInput={(event) => setWord(event.currentTarget.value)}
          />
        </>
      )}
      <button
        type="submit"
        class={action.danger === true ? 'no' : 'go'}
        disabled={busy}
        ref={(element) => {
          if (!isAsked) first.current = element;
        }}
      >
        {busy ? `${t`Working`} …` : isAsked ? action.label : t`Yes, do it`}
      </button>
      <Press class="plain" says={t`Cancel`} onPress={back} />
    </form>
  );
}
