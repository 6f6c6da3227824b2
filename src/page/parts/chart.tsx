import type { VNode } from 'preact';
import { number } from '../message.ts';

export interface Point {
  /** What stands below the first and the last one, and is said of each. */
  label: string;
  value: number;
}

const [WIDTH, HEIGHT, FOOT, LEFT] = [600, 110, 16, 44];
/** Fewer points say less than a sentence does. */
export const LEAST_POINTS = 8;

/** A bar for each point, with what the highest is; the first and the last are named below. */
export function Bars(of: { title: string; unit: string; points: readonly Point[] }): VNode {
  const { title, unit, points } = of;
  const most = Math.max(...points.map(({ value }) => value)) || 1;
  const step = (WIDTH - LEFT) / points.length;
  const says = points.map(({ label, value }) => `${label} ${number(value)}`).join(', ');
  const y = (value: number): number => HEIGHT - (value / most) * (HEIGHT - 12);
  return (
    <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT + FOOT}`} role="img" aria-label={`${title}: ${says}`}>
      <line x1={LEFT} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} class="axis" />
      <line x1={LEFT} x2={WIDTH} y1={y(most)} y2={y(most)} class="axis" />
      <text x={LEFT - 6} y={y(most) + 4} text-anchor="end">{`${number(most)} ${unit}`}</text>
      {points.map(({ label, value }, index) => (
        <rect
          key={`${index} ${label}`}
          x={LEFT + index * step + step * 0.15}
          y={Math.min(y(value), HEIGHT - 1)}
          width={step * 0.7}
          height={Math.max(1, HEIGHT - y(value))}
        >
          <title>{`${label}: ${number(value)} ${unit}`}</title>
        </rect>
      ))}
      <text x={LEFT} y={HEIGHT + 13}>
        {points[0]?.label}
      </text>
      <text x={WIDTH} y={HEIGHT + 13} text-anchor="end">
        {points.at(-1)?.label}
      </text>
    </svg>
  );
}
