import type { VNode } from 'preact';
import { useAnswer } from '../loading.ts';
import { day, plural, t } from '../message.ts';
import { Bars, LEAST_POINTS } from '../parts/chart.tsx';
import { Fold } from '../parts/work.tsx';

const MOST_BARS = 60;

/** How long each story took, once there are enough to say something. */
export function BoardCharts(): VNode | null {
  const { data } = useAnswer('story_history', {}, ['progress']);
  const timed = (data?.stories ?? []).filter(({ days }) => days !== undefined).slice(-MOST_BARS);
  if (data === undefined || timed.length < LEAST_POINTS) return null;
  const { median_days: median, undated } = data;
  return (
    <Fold title={t`How long stories take`}>
      <Bars
        title={t`Days from begun to done`}
        unit={t`days`}
        points={timed.map(({ title, done, days }) => ({
          label: `${day(done ?? '')} ${title}`,
          value: days ?? 0,
        }))}
      />
      {median === undefined || median === 0 ? null : (
        <p class="soft">{t`Half of the stories took ${plural(median, 'day')} or less.`}</p>
      )}
      {undated === 0 ? null : (
        <p class="soft">{t`No date is known of ${plural(undated, 'story', 'stories')}.`}</p>
      )}
    </Fold>
  );
}
