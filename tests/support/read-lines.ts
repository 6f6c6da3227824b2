import type { Log, Mark, PlacedLine } from '../../src/lines/line.ts';

export interface Read {
  lines: PlacedLine[];
  gone: string[];
  mark: Mark;
}

/** All lines after a mark, with the mark of their end. */
export async function readAll(log: Log, after: Mark = new Map(), without?: string): Promise<Read> {
  const mark = new Map(after);
  const found: Read = { lines: [], gone: [], mark };
  for await (const { lines, gone, marks } of log.read(after, without)) {
    found.lines.push(...lines);
    found.gone.push(...gone);
    for (const [name, value] of marks)
      if (value === undefined) mark.delete(name);
      else mark.set(name, value);
  }
  return found;
}
