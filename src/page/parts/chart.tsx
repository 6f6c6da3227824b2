import type { ComponentChildren, VNode } from 'preact';

export interface Point {
  /** What stands below the first and the last one. */
  label: string;
  /** What is said of it beside its value. */
  note?: string;
  value: number;
  /** How it is drawn; accent without it. */
  tone?: 'good' | 'bad' | 'soft';
}

/** A line over the same points as another, such as what was planned beside what is done. */
interface Line {
  name?: string;
  points: readonly Point[];
  tone?: 'good' | 'soft';
}

const WIDTH = 600;
const HEIGHT = 120;
const FOOT = 16;

function described(title: string, points: readonly Point[]): string {
  return `${title}: ${points.map(({ label, note, value }) => `${label} ${note ?? ''} ${value}`).join(', ')}`;
}

/** What every chart has: its size, what it says to those who do not see it, the axis, and what the ends are. */
function Frame(of: {
  says: string;
  points: readonly Point[];
  /** Where the last point is, if not at the right. */
  end?: number;
  children: ComponentChildren;
}): VNode {
  const { points, end = WIDTH } = of;
  const [first, last] = [points[0], points.at(-1)];
  return (
    <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT + FOOT}`} role="img" aria-label={of.says}>
      <line x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} class="axis" />
      {of.children}
      {first === undefined ? null : (
        <text x="0" y={HEIGHT + 13}>
          {first.label}
        </text>
      )}
      {last === undefined || last.label === first?.label ? null : (
        <text x={end} y={HEIGHT + 13} text-anchor="end">
          {last.label}
        </text>
      )}
    </svg>
  );
}

/** A bar for each point, the first and the last named below. */
export function Bars({ title, points }: { title: string; points: readonly Point[] }): VNode {
  const most = Math.max(...points.map(({ value }) => value)) || 1;
  // Few points stand together at the left, as the first of many would.
  const step = Math.min(40, WIDTH / Math.max(points.length, 1));
  const width = Math.min(28, step * 0.7);
  return (
    <Frame says={described(title, points)} points={points} end={Math.max(240, step * points.length)}>
      {points.map(({ label, note, value, tone }, index) => {
        const height = Math.max(2, (value / most) * (HEIGHT - 8));
        return (
          <rect
            key={`${index} ${label}`}
            x={index * step + (step - width) / 2}
            y={HEIGHT - height}
            width={width}
            height={height}
            rx="2"
            class={tone ?? 'accent'}
          >
            <title>{`${label} ${note ?? ''}: ${value}`}</title>
          </rect>
        );
      })}
    </Frame>
  );
}

/** A line that goes up in steps, as a sum does. */
export function Steps({ title, points }: { title: string; points: readonly Point[] }): VNode {
  return <StepLines title={title} lines={[{ points }]} />;
}

/** Several of them over the same days, drawn to one scale. */
export function StepLines({ title, lines }: { title: string; lines: readonly Line[] }): VNode {
  const all = lines.flatMap(({ points }) => points);
  const most = Math.max(...all.map(({ value }) => value)) || 1;
  const y = (value: number): number => HEIGHT - (value / most) * (HEIGHT - 8);
  const says = lines.map(({ name, points }) => described(name ?? title, points)).join('; ');
  return (
    <figure>
      <Frame says={lines.length === 1 ? says : `${title}. ${says}`} points={lines[0]?.points ?? []}>
        {lines.map(({ name, points, tone }) => {
          const x = (index: number): number => (index / Math.max(points.length - 1, 1)) * WIDTH;
          const path = points
            .map(({ value }, index) => (index === 0 ? `M0 ${y(value)}` : `H${x(index)}V${y(value)}`))
            .join('');
          return <path key={name ?? title} d={path} class={tone === undefined ? 'line' : `line ${tone}`} />;
        })}
      </Frame>
      {lines.length < 2 ? null : (
        <figcaption>
          {lines.map(({ name, points, tone }) => (
            <span key={name}>
              <span class={`dot ${tone === undefined ? 'info' : 'soft'}`} aria-hidden="true" /> {name}{' '}
              <b>{points.at(-1)?.value}</b>
            </span>
          ))}
        </figcaption>
      )}
    </figure>
  );
}
