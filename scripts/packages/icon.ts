import { crc32, deflateSync } from 'node:zlib';

const SIZE = 512;

type Colour = readonly [number, number, number];
const GROUND: Colour = [24, 33, 54];
const PAPER: Colour = [244, 241, 232];
const MARK: Colour = [226, 131, 54];

/** Four cards that lead on to each other, as the phases of a project do: a picture of plain rectangles needs no file. */
export function iconPng(): Buffer {
  const rows: Buffer[] = [];
  for (let y = 0; y < SIZE; y += 1) {
    const row = Buffer.alloc(1 + SIZE * 4);
    for (let x = 0; x < SIZE; x += 1) row.set([...colourAt(x, y), inCorner(x, y) ? 0 : 255], 1 + x * 4);
    rows.push(row);
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(SIZE, 0);
  head.writeUInt32BE(SIZE, 4);
  // Eight bits for each of red, green, blue and opacity.
  head.set([8, 6, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.concat(rows), { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const ROUND = 96;

function inCorner(x: number, y: number): boolean {
  const near = (at: number): number => Math.max(ROUND - at, at - (SIZE - 1 - ROUND), 0);
  return Math.hypot(near(x), near(y)) > ROUND;
}

const CARD = { width: 176, height: 64, step: 68, left: 76, top: 92 };

function colourAt(x: number, y: number): Colour {
  for (let card = 0; card < 4; card += 1) {
    const left = CARD.left + card * 61;
    const top = CARD.top + card * (CARD.height + 22);
    if (x < left || x >= left + CARD.width || y < top || y >= top + CARD.height) continue;
    return x < left + CARD.height / 2 ? MARK : PAPER;
  }
  return GROUND;
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
