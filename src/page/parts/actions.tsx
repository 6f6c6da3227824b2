import type { VNode } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Action } from '../answers.ts';
import { perform, Problem } from '../api.ts';
import { session } from '../live.ts';
import { address, go, project } from '../router.ts';
import { words } from '../words.ts';
import { announce } from './announced.tsx';
import { isOfTheMachine } from './patterns.ts';
import { inLine } from './visible.ts';

/** Decisions that need a word with them, where the server does not say so, and whether it may be left out. */
const ASKED: Readonly<Record<string, { name: string; needed: boolean }>> = {
  delivery_reject: { name: 'reason', needed: true },
  task_refuse: { name: 'reason', needed: false },
  task_cancel: { name: 'reason', needed: false },
};

function askedBy({ operation, needs }: Action): { name: string; needed: boolean } | undefined {
  const [name] = needs ?? [];
  return ASKED[operation] ?? (name === undefined ? undefined : { name, needed: true });
}

/** What only shows something has a view for it. */
function shownAt({ operation, args }: Action): string | undefined {
  if (operation === 'sources_diff') return address('catalogue', ['sources']);
  if (operation === 'run_resume' && typeof args['run_id'] === 'string')
    return address('now', ['runs', args['run_id']]);
  return undefined;
}

/** Acts on the project that is looked at, unless the action says which. */
function argsFor(action: Action, word: string): Record<string, unknown> {
  const asked = askedBy(action);
  return {
    ...(project.value === undefined || isOfTheMachine(action.operation) ? {} : { project: project.value }),
    ...action.args,
    ...(asked === undefined || word === '' ? {} : { [asked.name]: word }),
  };
}

/** Buttons of one thing. What cannot be undone asks a second time, beside the text that is decided on. */
export function Actions({
  actions,
  about,
  onDone,
}: {
  actions: readonly Action[];
  /** What they are about, for those who do not see it. */
  about: string;
  /** Told what was done, in the words of its button. */
  onDone: (did: string) => void;
}): VNode | null {
  const [open, setOpen] = useState<Action | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [word, setWord] = useState('');
  const first = useRef<HTMLElement>(null);
  const field = useId();
  const { shell } = words.value;
  useEffect(() => first.current?.focus(), [open]);
  if (actions.length === 0 || session.value?.readOnly === true) return null;

  const run = async (action: Action): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await perform(action.operation, argsFor(action, word.trim()));
      setOpen(undefined);
      setWord('');
      announce(`${action.label}: ${shell.done}`);
      onDone(action.label);
    } catch (error) {
      setProblem(error instanceof Problem && error.status !== 0 ? error.message : shell.noServer);
    } finally {
      setBusy(false);
    }
  };
  const pressed = (action: Action): void => {
    const place = shownAt(action);
    if (place !== undefined) go(place);
    else if (action.danger === true || action.asks === true || askedBy(action) !== undefined) setOpen(action);
    else void run(action);
  };
  const asked = open === undefined ? undefined : askedBy(open);
  return (
    <div class="acts">
      {open === undefined ? (
        actions.map((action, index) => (
          <button
            type="button"
            key={action.label}
            class={index === 0 && action.danger !== true ? 'go' : ''}
            aria-label={`${action.label}: ${about}`}
            data-act={index + 1}
            disabled={busy}
            onClick={() => pressed(action)}
          >
            {action.label}
          </button>
        ))
      ) : (
        <form
          class="sure"
          onSubmit={(event) => {
            event.preventDefault();
            void run(open);
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            event.stopPropagation();
            setOpen(undefined);
            // Back to where keys go on from.
            event.currentTarget.closest('.mail')?.querySelector<HTMLElement>('[aria-current]')?.focus();
          }}
        >
          <p>
            <b>{open.label}</b>
            {asked === undefined ? <span class="soft"> {shell.sure}</span> : null}
          </p>
          {asked === undefined ? null : (
            <>
              <label for={field}>{shell.reason}</label>
              <input
                id={field}
                ref={(element) => {
                  first.current = element;
                }}
                value={word}
                required={asked.needed}
                maxLength={2000}
                onInput={(event) => setWord(event.currentTarget.value)}
              />
            </>
          )}
          <button
            type="submit"
            class="go"
            disabled={busy}
            ref={(element) => {
              if (asked === undefined) first.current = element;
            }}
          >
            {shell.confirm}
          </button>
          <button type="button" onClick={() => setOpen(undefined)}>
            {shell.cancel}
          </button>
        </form>
      )}
      {problem === undefined ? null : (
        <p class="bad" role="alert">
          {inLine(problem, 600)}
        </p>
      )}
    </div>
  );
}
