import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, Problem, readInbox, type Args } from './api.ts';
import type { Answers, Inbox } from './answers.ts';
import { changes, type Topic } from './live.ts';
import { language } from './message.ts';
import { project } from './router.ts';

export interface Loaded<T> {
  data: T | undefined;
  problem: Problem | undefined;
  busy: boolean;
  reload: () => void;
}

/** Reads something when the view opens, when its question changes, and when one of its topics has changed. */
function useLoaded<T>(
  key: string,
  read: (over: AbortSignal) => Promise<T>,
  topics: readonly Topic[],
): Loaded<T> {
  const [state, setState] = useState<{ key: string; data?: T; problem?: Problem }>({ key });
  const [asked, setAsked] = useState(0);
  const [busy, setBusy] = useState(true);
  const reading = useRef(read);
  reading.current = read;
  const counted = changes.value;
  // What the server says, it says in the language that is shown.
  const version = [
    language.value,
    asked,
    counted.all ?? 0,
    ...topics.map((topic) => counted[topic] ?? 0),
  ].join(' ');
  useEffect(() => {
    const over = new AbortController();
    setBusy(true);
    reading
      .current(over.signal)
      .then((data) => setState({ key, data }))
      .catch((error: unknown) => {
        if (over.signal.aborted) return;
        const problem = error instanceof Problem ? error : new Problem(String(error), 0);
        // What was shown stays, with the problem above it.
        setState((old) => (old.key === key ? { ...old, problem } : { key, problem }));
      })
      .finally(() => {
        if (!over.signal.aborted) setBusy(false);
      });
    return () => over.abort();
  }, [key, version]);
  const same = state.key === key;
  return {
    data: same ? state.data : undefined,
    problem: same ? state.problem : undefined,
    busy,
    reload: () => setAsked((times) => times + 1),
  };
}

/** The answer of an operation for the project that is looked at; nothing is asked without arguments. */
export function useAnswer<K extends keyof Answers>(
  operation: K,
  args: Args,
  topics: readonly Topic[],
): Loaded<Answers[K]> {
  const where = project.value;
  const all = where === undefined || NO_PROJECT.has(operation) ? args : { ...args, project: where };
  return useLoaded(`${operation} ${JSON.stringify(all)}`, (over) => ask(operation, all, over), topics);
}

/** Operations that are about the machine, or take the project from elsewhere. */
const NO_PROJECT = new Set<string>(['list_prompts', 'sources_list', 'sources_diff', 'hosts_show']);

export function useInbox(): Loaded<Inbox> {
  const where = project.value;
  return useLoaded(`inbox ${where ?? ''}`, (over) => readInbox(where, over), [
    'tasks',
    'sources',
    'progress',
    'receipts',
    'runs',
    'handover',
    'content',
  ]);
}
