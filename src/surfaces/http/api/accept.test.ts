import { describe, expect, it } from 'vitest';
import { wantedForm } from './answers.ts';

describe('the form of an answer', () => {
  it.each([
    [null, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/json, text/markdown', 'application/json'],
    ['text/markdown', 'text/markdown'],
    ['text/*', 'text/markdown'],
    ['TEXT/Plain ; charset=utf-8', 'text/plain'],
    ['application/json;q=0.4, text/plain;q=0.5', 'text/plain'],
    ['application/json;q=0, */*', 'text/markdown'],
    ['text/html, application/xhtml+xml, */*;q=0.8', 'application/json'],
    ['image/png', undefined],
    ['application/json;q=0', undefined],
    ['text/plain;q=nonsense', undefined],
  ])('%s', (accept, form) => {
    expect(wantedForm(accept)).toBe(form);
  });
});
