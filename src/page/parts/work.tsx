import type { ComponentChildren, VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Event, Work } from '../answers.ts';
import { useNames } from '../loading.ts';
import { age, clock, labelled, plural, t } from '../message.ts';
import { address } from '../router.ts';
import { When } from './shown.tsx';
import { dotted, inLine } from './wording.ts';

/** The first letter of who it is; the name is beside it. */
export function Badge({ name }: { name: string }): VNode {
  return (
    <span class="ava" title={inLine(name, 80)} aria-hidden="true">
      {inLine(Array.from(name.trim())[0] ?? '·', 2).toUpperCase()}
    </span>
  );
}

/** More steps than these are a bar without words. */
const MOST_NAMED = 9;

/** How far a run is, step by step; the one that comes next is named. */
export function StepStrip(of: { done: number; total: number; names?: readonly string[] | undefined }): VNode {
  const { done, total, names = [] } = of;
  const isNamed = total <= MOST_NAMED && names.length === total;
  return (
    <ol class={`steps ${isNamed ? 'named' : ''}`} aria-label={t`${done} of ${plural(total, 'step')}`}>
      {Array.from({ length: Math.min(total, 60) }, (_, index) => (
        <li
          key={index}
          class={index < done ? 'd' : index === done ? 'c' : ''}
          aria-current={index === done ? 'step' : undefined}
          title={inLine(names[index] ?? String(index + 1), 80)}
        >
          {isNamed ? inLine(names[index] ?? '', 40) : null}
        </li>
      ))}
    </ol>
  );
}

/** Ticks of tasks, as small as a card has room for. */
export function Pips({ done, total }: { done: number; total: number }): VNode {
  return (
    <>
      {total > 12 ? null : (
        <span class="pips" aria-hidden="true">
          {Array.from({ length: total }, (_, index) => (
            <i key={index} class={index < done ? 'd' : ''} />
          ))}
        </span>
      )}
      {t`${done} of ${total}`}
    </>
  );
}

/** What is done, with what was noted then, and what comes next: a note is never about what goes on now. */
export function standingOf({
  done,
  total,
  steps,
  note,
}: Pick<Work, 'done' | 'total' | 'steps' | 'note'>): string[] {
  const said = inLine(note ?? '', 200);
  if (done === undefined) return [said];
  const was = plural(done, 'step done', 'steps done');
  const next = steps?.[done] ?? String(done + 1);
  return [
    done === 0 ? said : said === '' ? was : labelled(was, said),
    total === undefined || done >= total ? '' : labelled(t`next step`, inLine(next, 80)),
  ];
}

export function WorkList({ work }: { work: readonly Work[] }): VNode {
  const nameOf = useNames();
  return (
    <ul class="list work">
      {work.map((one) => {
        const { kind, id, agent, title, at, why, person, done, total, steps, story } = one;
        const name = nameOf(agent ?? '');
        return (
          <li key={`${kind} ${id}`} data-entry tabIndex={0} aria-label={inLine(title, 120)}>
            <div class="wl">
              {name === '' ? null : <Badge name={name} />}
              <span>
                {name === '' ? null : <b>{inLine(name, 60)} </b>}
                <a href={address('now', [kind === 'run' ? 'runs' : 'tasks', id])}>{inLine(title, 160)}</a>
                {story === undefined ? null : (
                  <>
                    {' '}
                    · <a href={address('board', [story])}>{inLine(story, 80)}</a>
                  </>
                )}
              </span>
              <When at={at} as={(iso) => (kind === 'run' ? t`last checkpoint ${age(iso)}` : age(iso))} />
            </div>
            {person === true ? (
              <p class="soft">
                <a href={address('inbox', [], { entry: `task ${id}` })}>{t`waits for your decision`}</a>
                {why === undefined ? '' : ` · ${inLine(why, 160)}`}
              </p>
            ) : (
              <p class="soft">{dotted(inLine(why ?? ''), ...standingOf(one))}</p>
            )}
            {done === undefined || total === undefined || total === 0 ? null : (
              <StepStrip done={done} total={total} names={steps} />
            )}
          </li>
        );
      })}
    </ul>
  );
}

function eventPlace({ kind, id }: Event): string {
  const task = id.replace('.result', '');
  if (kind === 'task' || (kind === 'decision' && id.startsWith('task-')))
    return address('now', ['tasks', task]);
  if (kind === 'run') return address('now', ['runs', id]);
  if (kind === 'memory') return address('memory', [id]);
  return address('proof', kind === 'proof' ? [] : ['handover']);
}

/** What has happened, the newest first, each with the way to it. */
export function Stream({ events }: { events: readonly Event[] }): VNode {
  const nameOf = useNames();
  return (
    <ol class="stream">
      {events.slice(0, 24).map((event, index) => (
        <li key={`${event.at} ${event.id} ${index}`}>
          <When at={event.at} as={clock} />
          <a href={eventPlace(event)} class={event.bad === true ? 'bad' : ''}>
            {event.what}
            <small>
              {dotted(event.by === undefined ? '' : inLine(nameOf(event.by), 60), inLine(event.about, 140))}
            </small>
          </a>
        </li>
      ))}
    </ol>
  );
}

export function Fold(of: { title: string; children: ComponentChildren; open?: boolean }): VNode {
  return (
    <details class="fold" open={of.open}>
      <summary>{of.title}</summary>
      {of.children}
    </details>
  );
}

/** One item of a list, opened beside it under its own address. Closing it gives the focus back. */
export function Beside(of: { about: string; back: string; children: ComponentChildren }): VNode {
  const panel = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const { activeElement: from } = document;
    const { current } = panel;
    current?.focus({ preventScroll: true });
    return () => {
      const { activeElement: now, body } = document;
      const isStillHere = now === body || current?.contains(now) === true;
      if (isStillHere && from instanceof HTMLElement) from.focus();
    };
  }, []);
  return (
    <aside class="panel-beside" ref={panel} tabIndex={-1} aria-label={inLine(of.about, 80)} data-reader>
      <p class="top">
        <a class="plain" href={of.back} data-close>
          {t`Close`} <kbd>Esc</kbd>
        </a>
      </p>
      {of.children}
    </aside>
  );
}
