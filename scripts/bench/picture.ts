/** A line of a chart: its name and its points. */
export interface Curve {
  name: string;
  points: readonly (readonly [x: number, y: number])[];
}

const WIDTH = 720;
const HEIGHT = 420;
const EDGE = { left: 64, right: 190, top: 40, bottom: 52 };
const COLOURS = ['#1f6feb', '#d1571a', '#1a7f4e', '#8250df', '#b35900', '#57606a'];

/** Growth as a picture: both axes count in powers of ten, so that what is linear is a line of slope one. */
export function growthPicture(
  title: string,
  unit: { x: string; y: string },
  curves: readonly Curve[],
): string {
  const all = curves.flatMap(({ points }) => points);
  const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => Math.max(y, 0.1))];
  const across = axis(xs, EDGE.left, WIDTH - EDGE.right);
  const up = axis(ys, HEIGHT - EDGE.bottom, EDGE.top);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="${title}">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
<text x="${EDGE.left}" y="22" font-size="15" fill="#1f2328">${title}</text>
${across.ticks.map(({ at, label }) => `<path d="M${at} ${EDGE.top}V${HEIGHT - EDGE.bottom}" stroke="#e3e6ea"/><text x="${at}" y="${HEIGHT - EDGE.bottom + 18}" text-anchor="middle" fill="#57606a">${label}</text>`).join('\n')}
${up.ticks.map(({ at, label }) => `<path d="M${EDGE.left} ${at}H${WIDTH - EDGE.right}" stroke="#e3e6ea"/><text x="${EDGE.left - 8}" y="${at + 4}" text-anchor="end" fill="#57606a">${label}</text>`).join('\n')}
<text x="${(EDGE.left + WIDTH - EDGE.right) / 2}" y="${HEIGHT - 12}" text-anchor="middle" fill="#57606a">${unit.x}</text>
<text x="14" y="${EDGE.top - 10}" fill="#57606a">${unit.y}</text>
${curves.map((curve, index) => drawn(curve, COLOURS[index % COLOURS.length] ?? '#000', across.place, up.place)).join('\n')}
${legend(curves, up.place)}
</svg>
`;
}

function drawn({ points }: Curve, colour: string, x: Place, y: Place): string {
  const places = points.map(([at, value]) => `${x(at)},${y(value)}`);
  const dots = points.map(([at, value]) => `<circle cx="${x(at)}" cy="${y(value)}" r="3" fill="${colour}"/>`);
  return `<polyline points="${places.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}`;
}

/** Names at the ends of their lines, apart enough to be read. */
function legend(curves: readonly Curve[], y: Place): string {
  const ends = curves
    .map(({ name, points }, index) => ({ name, index, at: y(points.at(-1)?.[1] ?? 0) }))
    .toSorted((one, other) => one.at - other.at);
  let last = Number.NEGATIVE_INFINITY;
  return ends
    .map(({ name, index, at }) => {
      last = Math.max(at + 4, last + 15);
      return `<text x="${WIDTH - EDGE.right + 10}" y="${last}" fill="${COLOURS[index % COLOURS.length]}">${name}</text>`;
    })
    .join('\n');
}

type Place = (value: number) => number;

function axis(
  values: readonly number[],
  from: number,
  to: number,
): { place: Place; ticks: { at: number; label: string }[] } {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const place = (value: number): number =>
    Math.round(from + ((Math.log10(Math.max(value, 10 ** low)) - low) / (high - low)) * (to - from));
  const ticks = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  return { place, ticks: ticks.map((value) => ({ at: place(value), label: shown(value) })) };
}

function shown(value: number): string {
  return value >= 1_000 ? `${(value / 1_000).toLocaleString('en')}k` : String(value);
}
