import type { ComponentChildren, ComponentProps, VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Signal } from '@preact/signals';
import type { Answers, Topic } from '../answers.ts';
import type { Args } from '../api.ts';
import { type Loaded, useAnswer } from '../loading.ts';
import { age, moment, t } from '../message.ts';
import { inLine } from './wording.ts';

interface Pressed extends Omit<ComponentProps<'button'>, 'onClick'> {
  says: string;
  onPress: () => unknown;
}

/** A button that says one thing and does it. */
export const Press = ({ says, onPress, ...how }: Pressed): VNode => (
  <button type="button" {...how} onClick={() => void onPress()}>
    {says}
  </button>
);

/** Nothing is there, and where it would come from. */
export function Empty({ title, how }: { title: string; how?: string }): VNode {
  return (
    <div class="empty">
      <p>{title}</p>
      {how === undefined ? null : <p class="soft">{how}</p>}
    </div>
  );
}

/** Where it takes long, the shape of what is coming. */
export const Loading = (): VNode => (
  <p class="loading" role="status">
    <span class="heard">{t`Loading`}</span>
    <i />
    <i />
    <i />
  </p>
);

/** What an operation gives in the three states it can be in; what was read before stays while it is read again. */
export function Shown<T>(of: { loaded: Loaded<T>; children: (data: T) => ComponentChildren }): VNode {
  const { data, problem, reload } = of.loaded;
  return (
    <>
      {problem === undefined ? null : (
        <div class="problem" role="alert">
          <p>
            {inLine(
              problem.status === 0 ? t`The server does not answer. Is it still running?` : problem.message,
              600,
            )}
          </p>
          {problem.hint === undefined ? null : <p class="soft mono">{inLine(problem.hint, 600)}</p>}
          <Press says={t`Try again`} onPress={reload} />
        </div>
      )}
      {data !== undefined ? of.children(data) : problem === undefined ? <Loading /> : null}
    </>
  );
}

/** What went wrong, above the buttons and as wide as they are; nothing where nothing did. */
export function Wrong({ text }: { text: string }): VNode | null {
  if (text === '') return null;
  return (
    <p class="bad" role="alert">
      {inLine(text, 600)}
    </p>
  );
}

/** A moment in few words, with all of it where one points at it. */
export function When(of: { at: string | undefined; as?: (iso: string) => string }): VNode | null {
  const { at, as = age } = of;
  if (at === undefined) return null;
  return (
    <time dateTime={at} title={moment(at)}>
      {as(at)}
    </time>
  );
}

/** What could not be read is listed, so that a view is never emptier than the project without saying so. */
export function Unread({ items }: { items: readonly { what: string; why: string }[] }): VNode | null {
  if (items.length === 0) return null;
  return (
    <section class="unread" aria-label={t`To look at`}>
      <h2>{t`To look at`}</h2>
      <ul>
        {items.slice(0, 50).map(({ what, why }) => (
          <li key={`${what} ${why}`}>
            <code>{inLine(what)}</code> {inLine(why, 600)}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Problems come as sentences or as objects with one, depending on who found them. */
export function unreadOf(
  problems: readonly unknown[] | undefined,
  what = '',
): { what: string; why: string }[] {
  return (problems ?? []).map((problem) => {
    if (typeof problem === 'string') return { what, why: problem };
    const { file, line, message, text } = (problem ?? {}) as Record<string, unknown>;
    const place = typeof file === 'string' ? `${file}${typeof line === 'number' ? `:${line}` : ''}` : what;
    const why = [message, text].find((each) => typeof each === 'string');
    return { what: place, why: typeof why === 'string' ? why : JSON.stringify(problem) };
  });
}

export function Heading(of: {
  title: string;
  lead?: string | undefined;
  children?: ComponentChildren;
}): VNode {
  return (
    <header class="heading">
      <div>
        <h1 tabIndex={-1}>{of.title}</h1>
        {of.lead === undefined ? null : <p>{of.lead}</p>}
      </div>
      {of.children}
    </header>
  );
}

export function Group({ title, count }: { title: string; count?: number | undefined }): VNode {
  return (
    <div class="group">
      <h2>{title}</h2>
      {count === undefined ? null : <b>{count}</b>}
    </div>
  );
}

/** Operations whose answers come in pages. */
type Paged = {
  [K in keyof Answers]: Answers[K] extends { next?: string | undefined } ? K : never;
}[keyof Answers];

interface PagesProps<K extends Paged> {
  operation: K;
  args: Args;
  topics: readonly Topic[];
  cursor?: string;
  children: (data: Answers[K], isFirst: boolean) => ComponentChildren;
}

/** A long list, page by page: the next one is read when it is asked for, below the one before. */
export function Pages<K extends Paged>(props: PagesProps<K>): VNode {
  const { operation, args, topics, cursor, children } = props;
  const [open, setOpen] = useState(false);
  const loaded = useAnswer(operation, cursor === undefined ? args : { ...args, cursor }, topics);
  return (
    <Shown loaded={loaded}>
      {(data) => {
        const { next } = data as { next?: string };
        return (
          <>
            {children(data, cursor === undefined)}
            {next === undefined ? null : open ? (
              <Pages {...props} cursor={next} />
            ) : (
              <Press class="more" says={t`Show more`} onPress={() => setOpen(true)} />
            )}
          </>
        );
      }}
    </Shown>
  );
}

type Asked = ComponentProps<'dialog'> & { when: Signal<boolean> };

/** Stands in front of everything until it is closed, and then gives the focus back to where it was. */
export const Modal = (of: Asked): VNode | null => (of.when.value ? <Opened {...of} /> : null);

function Opened({ when, ...how }: Asked): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog
      {...how}
      ref={dialog}
      onCancel={() => (when.value = false)}
      onClose={() => (when.value &&= dialog.current === null)}
    />
  );
}
