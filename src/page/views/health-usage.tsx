import type { VNode } from 'preact';
import type { UsedDay } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { Bars } from '../parts/chart.tsx';
import { Group, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { Bar } from '../parts/texts.tsx';
import { inLine } from '../parts/visible.ts';
import { age, number } from '../message.ts';
import { words } from '../words.ts';

/** What was started: most often, and day by day. */
export function Usage(): VNode {
  const loaded = useAnswer('usage_show', {}, ['content']);
  const { health } = words.value;
  return (
    <section>
      <Group title={health.usage} />
      <Shown loaded={loaded}>
        {({ items, days, problem, place }) => {
          const most = Math.max(1, ...items.map(({ uses }) => uses));
          return (
            <>
              {items.length === 0 ? (
                <p class="soft">{health.noUsage}</p>
              ) : (
                <ul class="list rows">
                  {items.slice(0, 20).map(({ name, kind, uses, last }) => (
                    <li key={`${kind} ${name}`}>
                      <span>
                        {inLine(name)} <span class="soft">{inLine(kind)}</span>
                      </span>
                      <span>
                        {uses} · {age(last)}
                      </span>
                      <Bar done={uses} all={most} label={`${inLine(name)}: ${uses}`} />
                    </li>
                  ))}
                </ul>
              )}
              <Days days={days} />
              <p class="proof">{inLine(place)}</p>
              <Unread items={unreadOf(problem === undefined ? [] : [problem], place)} />
            </>
          );
        }}
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
  const { health, shell } = words.value;
  if (days.length === 0) return null;
  const all = everyDay(days);
  const tokens = days.reduce((sum, used) => sum + used.tokens, 0);
  return (
    <>
      <h3>{health.startsByDay}</h3>
      <Bars
        title={health.startsByDay}
        points={all.map(({ day, starts }) => ({ label: day, value: starts }))}
      />
      <h3>{health.tokensByDay}</h3>
      <Bars
        title={health.tokensByDay}
        points={all.map(({ day, tokens: delivered }) => ({ label: day, value: delivered }))}
      />
      <p class="soft">{shell.tokens(number(tokens))}</p>
    </>
  );
}
