import { describe, expect, it } from 'vitest';
import { identifiersIn, isIdentifier, namesOne } from './words.ts';

describe('identifiers in a text', () => {
  it.each([
    ['valider US-042', ['us-042']],
    ['us 042, US042 and us_042', ['us-042']],
    ['STORY-3.2, then story 3.3', ['story-3.2', 'story-3.3']],
    ['ADR-7 replaces ADR-17.', ['adr-7', 'adr-17']],
    ['build 1-2-login, 11-2-login-form', ['1-2-login', '11-2-login-form']],
    ['R-70eee38c is no number', []],
    ['on 2026-02-28 with Python 3 and k3s at 10:30', []],
  ])('%s', (text, ids) => {
    expect(identifiersIn(text)).toEqual(ids);
  });

  it('tells what is nothing else, and who names it', () => {
    expect(isIdentifier(' US-042 ')).toBe(true);
    expect(isIdentifier('the tests of US-042')).toBe(false);
    expect(namesOne('US-0421, US-142', ['us-042'])).toBe(false);
    expect(namesOne('STORY-3.2.1', ['story-3.2'])).toBe(false);
    expect(namesOne('1-2-login-form', ['1-2-login'])).toBe(true);
  });
});
