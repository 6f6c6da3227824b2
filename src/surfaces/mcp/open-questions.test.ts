import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openQuestions } from './conversations.ts';

describe('open questions', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  it('are open until they are answered', () => {
    const questions = openQuestions();
    questions.add('a');
    questions.add('b');
    expect(questions.delete('a')).toBe(true);
    expect(questions.delete('a')).toBe(false);
    expect(questions.size).toBe(1);
    questions.delete('b');
    expect(questions.size).toBe(0);
  });

  it('do not count as left after that while', () => {
    const questions = openQuestions();
    questions.add('a');
    vi.setSystemTime(Date.now() + 61_000);
    expect(questions.delete('a')).toBe(false);
  });

  it('are so many at most', () => {
    const questions = openQuestions();
    for (let each = 0; each < 500; each += 1) questions.add(`${each}`);
    expect(questions.size).toBe(200);
    expect(questions.delete('499')).toBe(true);
  });

  it('are forgotten after a while, each by itself: the answer may have gone to another replica', () => {
    const questions = openQuestions();
    questions.add('a');
    vi.setSystemTime(Date.now() + 40_000);
    questions.add('b');
    expect(questions.size).toBe(2);
    vi.setSystemTime(Date.now() + 40_000);
    expect(questions.size).toBe(1);
    vi.setSystemTime(Date.now() + 40_000);
    expect(questions.size).toBe(0);
  });
});
