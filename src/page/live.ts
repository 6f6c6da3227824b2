import { signal } from '@preact/signals';
import { readSession, signedOut, useSession } from './api.ts';
import type { Session, Topic } from './answers.ts';
import { home, project } from './router.ts';

export const session = signal<Session | undefined>(undefined);
/** Why there is no session although nobody was refused: the server does not answer. */
export const unreachable = signal(false);
/** How often each topic has changed since the page was opened; `all` counts reconnections. */
export const changes = signal<Readonly<Partial<Record<Topic | 'all', number>>>>({});
/** The server came back with another version than this page is of. */
export const isOutdated = signal(false);
export const line = signal<'connecting' | 'live' | 'lost'>('connecting');

/** The hosts that have the project open. */
export const openHosts = (): Session['instances'] =>
  (session.value?.instances ?? []).filter(
    ({ kind, roots }) => kind === 'stdio' && roots.includes(project.value ?? ''),
  );

function count(topic: Topic | 'all'): void {
  changes.value = { ...changes.value, [topic]: (changes.value[topic] ?? 0) + 1 };
}

export async function enter(): Promise<void> {
  try {
    const found = await readSession();
    useSession(found);
    isOutdated.value ||= session.value !== undefined && session.value.version !== found.version;
    home.value = found.project ?? undefined;
    session.value = found;
    signedOut.value = undefined;
    unreachable.value = false;
  } catch {
    if (signedOut.value === undefined) unreachable.value = true;
  }
}

/** Somebody has come back to the page: of another branch, other hosts and other projects no event tells. */
export function comeBack(): void {
  count('seen');
  void enter();
}

/** Follows the changes of a project until it is told to stop. */
export function follow(root: string | undefined): () => void {
  const query = root === undefined ? '' : `?project=${encodeURIComponent(root)}`;
  let source: EventSource | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let missed = false;

  function open(): void {
    source = new EventSource(`/api/events${query}`);
    source.addEventListener('open', () => {
      line.value = 'live';
      // The server repeats what was missed only if it is the same one; what is shown is read again either way.
      if (missed) void enter().then(() => count('all'));
      missed = false;
    });
    source.addEventListener('change', (event) => {
      const topic = topicOf((event as MessageEvent<string>).data);
      // Who is here is told how the server is.
      if (topic === 'state') void enter();
      else if (topic !== undefined) count(topic);
    });
    source.addEventListener('error', () => {
      line.value = 'lost';
      missed = true;
      // A browser gives up on an answer that is no stream, such as a refusal; who was refused is told so.
      if (source?.readyState !== EventSource.CLOSED) return;
      void enter();
      again = setTimeout(() => {
        if (signedOut.value === undefined) open();
      }, 3000);
    });
  }

  open();
  return () => {
    clearTimeout(again);
    source?.close();
  };
}

function topicOf(data: string): Topic | undefined {
  try {
    return (JSON.parse(data) as { topic?: Topic }).topic;
  } catch {
    return undefined;
  }
}
