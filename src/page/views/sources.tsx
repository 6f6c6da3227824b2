import type { VNode } from 'preact';
import type { Source, SourceReview } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { Actions } from '../parts/actions.tsx';
import { Diff } from '../parts/diff.tsx';
import { Empty, Group, Heading, Shown, Unread } from '../parts/shown.tsx';
import { inLine } from '../parts/visible.ts';
import { age, number } from '../message.ts';
import { words } from '../words.ts';

const short = (commit: string | undefined): string => commit?.slice(0, 12) ?? '–';

/** Git sources: what is pinned, what has changed since, and the approval of exactly that. */
export function Sources(): VNode {
  const loaded = useAnswer('sources_list', {}, ['sources']);
  const { sources } = words.value;
  const all = loaded.data?.sources ?? [];
  return (
    <>
      <Heading title={sources.title} lead={loaded.data === undefined ? undefined : sources.lead(all.length)}>
        {all.length === 0 ? null : (
          <Actions
            about={sources.title}
            actions={[{ label: sources.ask, operation: 'sources_update', args: {} }]}
            onDone={loaded.reload}
          />
        )}
      </Heading>
      <Shown loaded={loaded}>
        {() => (
          <>
            {all.length === 0 ? (
              <Empty title={sources.empty} how={sources.emptyHow} />
            ) : (
              <ul class="list">
                {all.map((source) => (
                  <Line key={`${source.source} ${source.lockFile}`} source={source} />
                ))}
              </ul>
            )}
            {all.some(({ pending }) => pending !== undefined) ? <Changes onDone={loaded.reload} /> : null}
            <Unread
              items={all.flatMap(({ source, trouble }) =>
                trouble === undefined ? [] : [{ what: source, why: trouble }],
              )}
            />
          </>
        )}
      </Shown>
    </>
  );
}

function Line({ source }: { source: Source }): VNode {
  const { sources } = words.value;
  const { pending, trouble } = source;
  return (
    <li class="item" data-entry tabIndex={0} aria-label={inLine(source.source)}>
      <span
        class={`dot ${trouble === undefined ? (pending === undefined ? 'good' : 'info') : 'bad'}`}
        aria-hidden="true"
      />
      <div>
        <p class="what">{inLine(source.source)}</p>
        <p class="why">
          {pending === undefined
            ? inLine(source.state)
            : `${sources.waits}: ${short(source.commit)} → ${short(pending.commit)}`}
          {source.fetchedAt === undefined ? '' : ` · ${age(source.fetchedAt)}`}
        </p>
        <p class="proof">
          {short(source.commit)} · {source.files === undefined ? '–' : number(source.files)} ·{' '}
          {inLine(source.digest?.slice(0, 16) ?? '')} · {inLine(source.lockFile)}
        </p>
        {source.skipped.length === 0 ? null : (
          <details>
            <summary>
              {sources.skipped} ({source.skipped.length})
            </summary>
            <ul class="reasons">
              {source.skipped.slice(0, 100).map((each) => (
                <li key={each}>{inLine(each)}</li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </li>
  );
}

function Changes({ onDone }: { onDone: () => void }): VNode {
  const loaded = useAnswer('sources_diff', {}, ['sources']);
  return (
    <Shown loaded={loaded}>
      {({ reviews }) =>
        reviews.map((review) => <Review key={review.source} review={review} onDone={onDone} />)
      }
    </Shown>
  );
}

function Review({ review, onDone }: { review: SourceReview; onDone: () => void }): VNode {
  const { sources } = words.value;
  return (
    <section data-entry tabIndex={0} aria-label={inLine(review.source)}>
      <Group title={`${sources.changes}: ${inLine(review.source)}`} count={review.files.length} />
      <ul class="reasons">
        {review.records.map(({ kind, name, change, description }) => (
          <li key={`${kind} ${name}`}>
            <b>{inLine(change)}</b> {inLine(kind)} {inLine(name)}{' '}
            <span class="soft">{inLine(description)}</span>
          </li>
        ))}
      </ul>
      {review.files.map(({ path, change, plus, minus, diff, binary }) => (
        <Diff
          key={path}
          title={`${change} ${path}`}
          note={`+${plus} −${minus}`}
          text={diff ?? binary ?? ''}
        />
      ))}
      <p class="proof">
        {short(review.from)} → {short(review.to)} · {inLine(review.digest)}
      </p>
      <Actions
        about={inLine(review.source)}
        onDone={onDone}
        actions={[
          {
            label: sources.approve,
            operation: 'sources_approve',
            args: { source: review.source, commit: review.to },
          },
        ]}
      />
    </section>
  );
}
