import type { VNode } from 'preact';
import type { StoryHistory } from '../answers-known.ts';
import { useAnswer } from '../loading.ts';
import { Bars, StepLines, type Point } from '../parts/chart.tsx';
import { Group } from '../parts/shown.tsx';
import { day, words } from '../words.ts';
import { titleOf } from './stories.ts';

/** What was planned and what is done over time, and how long each story took; nothing where no dates are known. */
export function BoardCharts(): VNode | null {
  const { data } = useAnswer('story_history', {}, ['progress']);
  const { board } = words.value;
  const stories = data?.stories ?? [];
  const done = stories.filter((story) => story.done !== undefined);
  // One day is a point, and says nothing about time.
  const times = new Set(stories.flatMap((story) => [story.planned, story.done ?? []].flat()));
  if (data === undefined || done.length === 0 || times.size < 2) return null;
  const timed = done.filter(({ days }) => days !== undefined).slice(-MOST_BARS);
  return (
    <section aria-label={board.burnUp}>
      <Group title={board.burnUp} count={done.length} />
      <StepLines title={board.burnUp} lines={burnUp(stories, board.planned, board.columns.done)} />
      {timed.length === 0 ? null : (
        <>
          <Group title={board.cycle} />
          <Bars
            title={board.cycle}
            points={timed.map(({ id, done: at, days }) => ({
              label: day(at ?? ''),
              note: titleOf(id),
              value: days ?? 0,
            }))}
          />
          {data.median_days === undefined ? null : <p class="soft">{board.median(data.median_days)}</p>}
        </>
      )}
      {data.undated === 0 ? null : <p class="soft">{board.undated(data.undated)}</p>}
    </section>
  );
}

const MOST_BARS = 60;

/** The same days for both lines, so that one can be read against the other. */
function burnUp(stories: StoryHistory['stories'], planned: string, done: string) {
  const times = [...new Set(stories.flatMap((story) => [story.planned, story.done ?? []].flat()))].sort(
    (a, b) => Date.parse(a) - Date.parse(b),
  );
  const until = (
    time: string,
    of: (story: StoryHistory['stories'][number]) => string | undefined,
  ): Point => ({
    label: day(time),
    value: stories.filter((story) => Date.parse(of(story) ?? '') <= Date.parse(time)).length,
  });
  return [
    {
      name: planned,
      tone: 'soft' as const,
      points: times.map((time) => until(time, (story) => story.planned)),
    },
    { name: done, points: times.map((time) => until(time, (story) => story.done)) },
  ];
}
