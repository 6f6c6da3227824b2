import type { VNode } from 'preact';
import type { MemoryPairs as PairList } from '../answers.ts';
import { useAnswer, useNames } from '../loading.ts';
import { Actions } from '../parts/actions.tsx';
import { differing } from '../parts/diff.tsx';
import { Group, When } from '../parts/shown.tsx';
import { dayName, t } from '../message.ts';
import { inLine, visible } from '../parts/visible.ts';
import { address } from '../router.ts';

type Pair = PairList['pairs'][number];

/** What is about the same, each pair side by side; a person says which holds. Nothing where there is none. */
export function Pairs({ type }: { type: string }): VNode | null {
  const loaded = useAnswer('memory_pairs', type === '' ? {} : { type }, ['memory']);
  const { data } = loaded;
  if (data === undefined || data.pairs.length === 0) return null;
  return (
    <section aria-label={t`Which one holds?`}>
      <Group title={t`Which one holds?`} count={data.total} />
      {data.pairs.map((pair) => (
        <article class="pair" key={`${pair.memory.id} ${pair.other.id}`} data-entry tabIndex={0}>
          <Side memory={pair.other} than={pair.memory} pair={pair} onDone={loaded.reload} />
          <Side memory={pair.memory} than={pair.other} pair={pair} isNewer onDone={loaded.reload} />
          {pair.stored ? (
            <div class="both">
              <Actions
                about={inLine(pair.other.text, 80)}
                onDone={loaded.reload}
                actions={[
                  { label: t`Both hold`, operation: 'memory_keep_both', args: bothOf(pair), equal: true },
                ]}
              />
            </div>
          ) : null}
        </article>
      ))}
    </section>
  );
}

const bothOf = ({ memory: { id, type }, other }: Pair) => ({ id, type, other: other.id });

function Side(of: {
  memory: Pair['memory'];
  than: Pair['memory'];
  pair: Pair;
  isNewer?: boolean;
  onDone: () => void;
}): VNode {
  const nameOf = useNames();
  const { memory, than, isNewer = false } = of;
  const args = { id: than.id, type: than.type, by: memory.id };
  // Of two with the same minute the order of the list still says which is newer.
  return (
    <div>
      <p>
        {differing(than.text, memory.text).map(({ text, isOwn }, index) =>
          isOwn ? <mark key={index}>{visible(text)}</mark> : <span key={index}>{visible(text)}</span>,
        )}
      </p>
      <p class="soft">
        <a href={address('memory', [memory.id], { of: memory.type })}>{inLine(nameOf(memory.agent), 60)}</a> ·{' '}
        <When at={memory.updatedAt} as={dayName} />
        {isNewer ? ` · ${t`newer`}` : ''}
      </p>
      {of.pair.stored ? (
        <Actions
          about={inLine(memory.text, 80)}
          onDone={of.onDone}
          actions={[{ label: t`This one holds`, operation: 'memory_supersede', args, equal: true }]}
        />
      ) : (
        <p class="soft">{t`from a file: edit it there`}</p>
      )}
    </div>
  );
}
