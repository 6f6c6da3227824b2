import type { VNode } from 'preact';
import type { StoryHistory } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { Bars, StepLines, type Point } from '../parts/chart.tsx';
import { Group } from '../parts/shown.tsx';
import { day } from '../message.ts';
import { words } from '../words.ts';

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
      <StepLines title={board.burnUp} lines={burnUp(stories, board.planned, board.done)} />
      {timed.length === 0 ? null : (
        <>
          <Group title={board.cycle} />
          <Bars
            title={board.cycle}
            points={timed.map(({ title, done: at, days }) => ({
              label: day(at ?? ''),
              note: title,
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

/** More points than these no eye tells apart, and each of them is said to those who do not see the chart. */
const MOST_POINTS = 120;

/** The same days for both lines, so that one can be read against the other; each story is counted once. */
function burnUp(stories: StoryHistory['stories'], planned: string, done: string) {
  const at = { planned: new Map<number, number>(), done: new Map<number, number>() };
  for (const story of stories)
    for (const what of ['planned', 'done'] as const) {
      const time = Date.parse(story[what] ?? '');
      if (!Number.isNaN(time)) at[what].set(time, (at[what].get(time) ?? 0) + 1);
    }
  const times = [...new Set([...at.planned.keys(), ...at.done.keys()])].sort((a, b) => a - b);
  const every = Math.ceil(times.length / MOST_POINTS);
  const sums = (counts: ReadonlyMap<number, number>): Point[] => {
    let value = 0;
    return times.flatMap((time, index) => {
      value += counts.get(time) ?? 0;
      const isShown = index % every === 0 || index === times.length - 1;
      return isShown ? [{ label: day(new Date(time).toISOString()), value }] : [];
    });
  };
  return [
    { name: planned, tone: 'soft' as const, points: sums(at.planned) },
    { name: done, points: sums(at.done) },
  ];
}
