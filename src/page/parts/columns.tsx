import type { VNode } from 'preact';
import type { Next, ProgressItem } from '../answers.ts';
import { t } from '../message.ts';
import { inLine } from './wording.ts';

/** Stories in the columns of the board, in the order of work. While one is dragged, each column takes it. */
export function Columns(of: {
  columns: Next['columns'];
  stories: readonly ProgressItem[];
  /** So many cards a column. */
  most: number;
  card: (story: ProgressItem) => VNode;
  onDrop?: ((column: string) => void) | undefined;
}): VNode {
  const { columns = {}, stories, most, onDrop } = of;
  return (
    <div class={`cols ${onDrop === undefined ? '' : 'open'}`}>
      {Object.entries(columns).map(([column, name]) => {
        const own = stories.filter((story) => story.column === column);
        return (
          <section
            class={`col ${own.length === 0 ? 'zero' : ''}`}
            key={column}
            aria-label={`${inLine(name)}, ${own.length}`}
            onDragOver={(event) => (onDrop === undefined ? undefined : event.preventDefault())}
            onDrop={(event) => {
              event.preventDefault();
              onDrop?.(column);
            }}
          >
            <h2>
              {inLine(name)} <span>{own.length}</span>
            </h2>
            {own.slice(0, most).map(of.card)}
            {own.length > most ? <p class="soft">{t`and ${own.length - most} more`}</p> : null}
          </section>
        );
      })}
    </div>
  );
}
