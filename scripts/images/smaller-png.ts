import { deflateSync, inflateSync } from 'node:zlib';

/** Enough for a screen of text in a few colours, with the shades at the edges of letters. */
const COLOURS = 48;
/** Squared: below it two colours look the same, unless they are side by side. */
const CLOSE = 40;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The same picture with a table of colours in place of three bytes a point: about a third of the size. */
export function smallerPng(png: Buffer): Buffer {
  const { width, height, channels, points } = decoded(png);
  const counts = new Map<number, number>();
  const colours = new Uint32Array(width * height);
  for (let at = 0; at < colours.length; at += 1) {
    const from = at * channels;
    const colour = ((points[from] ?? 0) << 16) | ((points[from + 1] ?? 0) << 8) | (points[from + 2] ?? 0);
    colours[at] = colour;
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const table = chosenOf([...counts].sort((one, other) => other[1] - one[1]).map(([colour]) => colour));
  const nearest = new Map<number, number>();
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const colour = colours[y * width + x] ?? 0;
      const known = nearest.get(colour) ?? nearestIn(table, colour);
      nearest.set(colour, known);
      rows[y * (width + 1) + 1 + x] = known;
    }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const palette = Buffer.from(table.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The most frequent ones that differ from each other: a dot of a rare colour keeps it. */
function chosenOf(frequent: readonly number[]): number[] {
  const chosen: number[] = [];
  for (const colour of frequent) {
    if (chosen.length === COLOURS) break;
    if (chosen.every((one) => distanceOf(one, colour) > CLOSE)) chosen.push(colour);
  }
  return chosen;
}

function distanceOf(one: number, other: number): number {
  const red = (one >> 16) - (other >> 16);
  const green = ((one >> 8) & 255) - ((other >> 8) & 255);
  const blue = (one & 255) - (other & 255);
  return red * red + green * green + blue * blue;
}

function nearestIn(table: readonly number[], colour: number): number {
  let best = 0;
  let least = Infinity;
  for (const [index, one] of table.entries()) {
    const distance = distanceOf(one, colour);
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

/** Pictures as browsers write them: eight bits a channel, in one piece. */
function decoded(png: Buffer): { width: number; height: number; channels: number; points: Buffer } {
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const channels = png[25] === 6 ? 4 : 3;
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  const packed = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const points = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = packed[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x += 1) {
      const left = x < channels ? 0 : (points[y * stride + x - channels] ?? 0);
      const above = y === 0 ? 0 : (points[(y - 1) * stride + x] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (points[(y - 1) * stride + x - channels] ?? 0);
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter] ?? 0;
      points[y * stride + x] = (packed[y * (stride + 1) + 1 + x] ?? 0) + guess;
    }
  }
  return { width, height, channels, points };
}

function paeth(left: number, above: number, corner: number): number {
  const guess = left + above - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? above : corner;
}

function chunk(type: string, data: Buffer): Buffer {
  const whole = Buffer.alloc(12 + data.length);
  whole.writeUInt32BE(data.length, 0);
  whole.write(type, 4, 'latin1');
  data.copy(whole, 8);
  whole.writeUInt32BE(crc(whole.subarray(4, 8 + data.length)), 8 + data.length);
  return whole;
}

function crc(bytes: Buffer): number {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return ~sum >>> 0;
}
