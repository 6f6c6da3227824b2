import type { VNode } from 'preact';
import type { UsedDay } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { Bars, LEAST_POINTS } from '../parts/chart.tsx';
import { Group, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { Reasons } from '../parts/texts.tsx';
import { dotted } from '../parts/visible.ts';
import { age, number, t } from '../message.ts';

/** What was started: most often, and day by day. */
export function Usage(): VNode {
  const loaded = useAnswer('usage_show', {}, ['content']);
  return (
    <section>
      <Group title={t`Started most often`} />
      <Shown loaded={loaded}>
        {({ items, days, problem, place }) => (
          <>
            {items.length === 0 ? (
              <p class="soft">{t`Nothing has been recorded.`}</p>
            ) : (
              <Reasons
                items={items
                  .slice(0, 20)
                  .map(({ name, kind, uses, last }) => `${uses} × ${dotted(name, kind, age(last))}`)}
              />
            )}
            <Days days={days} />
            <Unread items={unreadOf(problem === undefined ? [] : [problem], place)} />
          </>
        )}
      </Shown>
    </section>
  );
}

const DAY_MS = 86_400_000;

/** Days without a start are drawn too: a gap is part of what there is to see. */
function everyDay(days: readonly UsedDay[]): UsedDay[] {
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return [];
  const known = new Map(days.map((used) => [used.day, used]));
  const all = (Date.parse(last.day) - Date.parse(first.day)) / DAY_MS + 1;
  return Array.from({ length: Math.min(all, SHOWN_DAYS) }, (_, back) => {
    const day = new Date(Date.parse(last.day) - back * DAY_MS).toISOString().slice(0, 10);
    return known.get(day) ?? { day, starts: 0, tokens: 0 };
  }).toReversed();
}

const SHOWN_DAYS = 90;

function Days({ days }: { days: readonly UsedDay[] }): VNode | null {
  const all = everyDay(days);
  const tokens = days.reduce((sum, used) => sum + used.tokens, 0);
  if (days.length === 0) return null;
  return (
    <>
      {all.length < LEAST_POINTS ? null : (
        <Bars
          title={t`Started each day`}
          unit=""
          points={all.map(({ day, starts }) => ({ label: day, value: starts }))}
        />
      )}
      <p class="soft">{t`${number(tokens)} tokens were delivered with them.`}</p>
    </>
  );
}
