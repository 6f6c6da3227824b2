import { describe, expect, it, vi } from 'vitest';
import { statusLine } from './person.ts';

const look = { width: 30, colours: false, links: false, live: true };

/** What is on the line at the end: each code for the beginning wipes it. */
const lineOf = (written: readonly string[]): string => written.join('').split('\r\u001B[2K').at(-1) ?? '';

describe('the line that says what is going on', () => {
  it('comes when it takes long, changes in its place, and is gone at the end', () => {
    vi.useFakeTimers();
    const written: string[] = [];
    let now = 0;
    const status = statusLine({ write: (text) => written.push(text), columns: 30 }, look, () => now);
    const pass = (ms: number): void => {
      now += ms;
      vi.advanceTimersByTime(ms);
    };
    status.show('Fetching');
    pass(500);
    expect(written).toEqual([]);
    pass(300);
    expect(lineOf(written)).toBe('Fetching …');
    status.show('Reading 5 of 900 files \u001B[2J in a long line');
    expect(lineOf(written)).toBe('Reading 5 of 900 files \\u001…');
    status.show('Reading');
    pass(3_000);
    expect(lineOf(written)).toBe('Reading … 3 s');
    status.clear();
    expect(lineOf(written)).toBe('');
    const before = written.length;
    status.clear();
    pass(5_000);
    expect(written).toHaveLength(before);
    vi.useRealTimers();
  });
});
