import type { VNode } from 'preact';
import type { MemoryPairs as PairList } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { Actions } from '../parts/actions.tsx';
import { Group } from '../parts/shown.tsx';
import { inLine } from '../parts/visible.ts';
import { address } from '../router.ts';
import { moment } from '../message.ts';
import { words } from '../words.ts';

type Pair = PairList['pairs'][number];

/** What is about the same, each pair side by side; a person says which holds. Nothing where there is none. */
export function Pairs({ type }: { type: string }): VNode | null {
  const loaded = useAnswer('memory_pairs', type === '' ? {} : { type }, ['memory']);
  const { memory: said } = words.value;
  const { data } = loaded;
  if (data === undefined || data.pairs.length === 0) return null;
  return (
    <section aria-label={said.pairs}>
      <Group title={said.pairs} count={data.total} />
      <ul class="list">
        {data.pairs.map((pair) => (
          <li class="item" key={`${pair.memory.id} ${pair.other.id}`} data-entry tabIndex={0}>
            <span class="dot" aria-hidden="true" />
            <div>
              <Side memory={pair.memory} />
              <Side memory={pair.other} />
            </div>
            {pair.stored ? <Settle pair={pair} onDone={loaded.reload} /> : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Side({ memory }: { memory: Pair['memory'] }): VNode {
  return (
    <p>
      <a href={address('memory', [memory.id], { of: memory.type })}>{inLine(memory.text, 300)}</a>{' '}
      <span class="proof">
        {inLine(memory.agent)} · {moment(memory.updatedAt)}
      </span>
    </p>
  );
}

function Settle({ pair: { memory, other }, onDone }: { pair: Pair; onDone: () => void }): VNode {
  const { memory: said } = words.value;
  return (
    <Actions
      about={inLine(other.text, 80)}
      onDone={onDone}
      actions={[
        {
          label: said.newerHolds,
          operation: 'memory_supersede',
          args: { id: other.id, type: other.type, by: memory.id },
          danger: true,
        },
        {
          label: said.keepBoth,
          operation: 'memory_keep_both',
          args: { id: memory.id, type: memory.type, other: other.id },
        },
      ]}
    />
  );
}
