import type { VNode } from 'preact';

export interface Point {
  label: string;
  value: number;
  /** How it is drawn; accent without it. */
  tone?: 'good' | 'bad' | 'soft';
}

const WIDTH = 600;
const HEIGHT = 120;
const FOOT = 16;

function described(title: string, points: readonly Point[]): string {
  return `${title}: ${points.map(({ label, value }) => `${label} ${value}`).join(', ')}`;
}

/** A bar for each point, the first and the last named below. */
export function Bars({ title, points }: { title: string; points: readonly Point[] }): VNode {
  const most = Math.max(1, ...points.map(({ value }) => value));
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
      {points.map(({ label, value, tone }, index) => {
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
            <title>{`${label}: ${value}`}</title>
          </rect>
        );
      })}
      <Ends points={points} end={Math.max(240, step * points.length)} />
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
