import { t } from '../message.ts';
import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Answers, Topic } from '../answers.ts';
import type { Args } from '../api.ts';
import { useAnswer } from '../loading.ts';
import { Press, Shown } from './shown.tsx';

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
