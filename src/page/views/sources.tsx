import type { VNode } from 'preact';
import type { Answers, Source } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { Actions } from '../parts/actions.tsx';
import { Diff } from '../parts/diff.tsx';
import { Empty, Group, Heading, Shown, Unread } from '../parts/shown.tsx';
import { Reasons } from '../parts/texts.tsx';
import { dotted, inLine } from '../parts/wording.ts';
import { Fold } from '../parts/work.tsx';
import { age, labelled, number, t } from '../message.ts';
import { stateOf } from '../words.ts';

const short = (commit: string | undefined): string => commit?.slice(0, 12) ?? '–';

/** Git sources: what is pinned, what has changed since, and the approval of exactly that. */
export function Sources(): VNode {
  const loaded = useAnswer('sources_list', {}, ['sources']);
  const all = loaded.data?.sources ?? [];
  const waits = all.some(({ pending }) => pending !== undefined);
  const changes = useAnswer('sources_diff', waits ? {} : undefined, ['sources']);
  return (
    <>
      <Heading title={t`Sources`}>
        {all.length === 0 ? null : (
          <Actions
            about={t`Sources`}
            actions={[{ label: t`Ask the remotes`, operation: 'sources_update', args: {} }]}
            onDone={loaded.reload}
          />
        )}
      </Heading>
      <Shown loaded={loaded}>
        {() => (
          <>
            {all.length === 0 ? (
              <Empty
                title={t`No git sources are configured.`}
                how={t`Add one in a terminal: bmad sources add git+https://host/org/repo.git#ref`}
              />
            ) : (
              <ul class="list">
                {all.map((source) => (
                  <Line key={`${source.source} ${source.lockFile}`} source={source} />
                ))}
              </ul>
            )}
            {waits ? (
              <Shown loaded={changes}>
                {({ reviews }) =>
                  reviews.map((each) => <Review key={each.source} review={each} onDone={loaded.reload} />)
                }
              </Shown>
            ) : null}
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
  const { pending, trouble } = source;
  return (
    <li class="item" data-entry tabIndex={0} aria-label={inLine(source.source)}>
      <span class={`dot ${trouble ? 'bad' : pending ? 'info' : 'good'}`} aria-hidden="true" />
      <div>
        <p class="what">{inLine(source.source)}</p>
        <p class="why">
          {pending === undefined
            ? inLine(source.state)
            : labelled(t`an update waits`, `${short(source.commit)} → ${short(pending.commit)}`)}
          {source.fetchedAt === undefined ? '' : ` · ${age(source.fetchedAt)}`}
        </p>
        <p class="proof">
          {short(source.commit)} · {source.files === undefined ? '–' : number(source.files)} ·{' '}
          {inLine(source.digest?.slice(0, 16) ?? '')} · {inLine(source.lockFile)}
        </p>
        {source.skipped.length === 0 ? null : (
          <Fold title={`${t`not taken`} (${source.skipped.length})`}>
            <Reasons items={source.skipped} />
          </Fold>
        )}
      </div>
    </li>
  );
}

function Review({
  review,
  onDone,
}: {
  review: Answers['sources_diff']['reviews'][number];
  onDone: () => void;
}): VNode {
  const args = { source: review.source, commit: review.to };
  return (
    <section data-entry tabIndex={0} aria-label={inLine(review.source)}>
      <Group title={labelled(t`What changes`, inLine(review.source))} count={review.files.length} />
      <Reasons
        items={review.records.map((each) =>
          dotted(stateOf(each.change), each.kind, each.name, each.description),
        )}
      />
      {review.files.map(({ path, change, plus, minus, diff, binary }) => (
        <Diff
          key={path}
          title={`${stateOf(change)} ${path}`}
          note={`+${plus} −${minus}`}
          text={diff ?? binary ?? ''}
        />
      ))}
      <Reasons items={[`${short(review.from)} → ${short(review.to)} · ${review.digest}`]} />
      <Actions
        about={inLine(review.source)}
        onDone={onDone}
        actions={[{ label: t`Approve`, operation: 'sources_approve', args, asks: true }]}
      />
    </section>
  );
}
