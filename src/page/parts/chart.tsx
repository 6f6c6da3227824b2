import type { VNode } from 'preact';

export interface Point {
  /** What stands below the first and the last one. */
  label: string;
  /** What is said of it beside its value. */
  note?: string;
  value: number;
  /** How it is drawn; accent without it. */
  tone?: 'good' | 'bad' | 'soft';
}

const WIDTH = 600;
const HEIGHT = 120;
const FOOT = 16;

function described(title: string, points: readonly Point[]): string {
  return `${title}: ${points.map(({ label, note, value }) => `${label} ${note ?? ''} ${value}`).join(', ')}`;
}

/** A bar for each point, the first and the last named below. */
export function Bars({ title, points }: { title: string; points: readonly Point[] }): VNode {
  const most = Math.max(...points.map(({ value }) => value)) || 1;
  // Few points stand together at the left, as the first of many would.
  const step = Math.min(40, WIDTH / Math.max(points.length, 1));
  const width = Math.min(28, step * 0.7);
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${WIDTH} ${HEIGHT + FOOT}`}
      role="img"
      aria-label={described(title, points)}
    >
      <line x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} class="axis" />
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
      <Ends points={points} end={Math.max(240, step * points.length)} />
    </svg>
  );
}

/** A line that goes up in steps, as a sum does. */
export function Steps({ title, points }: { title: string; points: readonly Point[] }): VNode {
  const most = Math.max(...points.map(({ value }) => value)) || 1;
  const x = (index: number): number => (index / Math.max(points.length - 1, 1)) * WIDTH;
  const y = (value: number): number => HEIGHT - (value / most) * (HEIGHT - 8);
  const path = points
    .map(({ value }, index) => (index === 0 ? `M0 ${y(value)}` : `H${x(index)}V${y(value)}`))
    .join('');
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${WIDTH} ${HEIGHT + FOOT}`}
      role="img"
      aria-label={described(title, points)}
    >
      <line x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} class="axis" />
      <path d={path} class="line" />
      <Ends points={points} />
    </svg>
  );
}

function Ends({ points, end = WIDTH }: { points: readonly Point[]; end?: number }): VNode | null {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return null;
  return (
    <>
      <text x="0" y={HEIGHT + 13}>
        {first.label}
      </text>
      {points.length === 1 ? null : (
        <text x={end} y={HEIGHT + 13} text-anchor="end">
          {last.label}
        </text>
      )}
    </>
  );
}
