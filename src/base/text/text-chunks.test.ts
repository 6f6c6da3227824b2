import { expect, it } from 'vitest';
import { chunksOf, essentialLength } from './text-budget.ts';

const STEPS = `# Instructions\n\nCritical.\n\n<workflow>\n  <step n="1" goal="Find it">\n    one\n\n## A heading of the output\n  </step>\n  <step n="2">\n    two\n  </step>\n</workflow>\n`;

it('parts a text at its headings and steps; the parts are the text', () => {
  const chunks = chunksOf(STEPS);
  expect(chunks.map(({ title }) => title)).toEqual([
    'Instructions',
    'step 1: Find it',
    'A heading of the output',
    'step 2',
  ]);
  expect(chunks.map(({ text }) => text).join('')).toBe(STEPS);
  expect(chunksOf('')).toEqual([]);
  expect(chunksOf('plain')).toMatchObject([{ title: undefined, text: 'plain' }]);
});

it('knows what it takes to begin: all of a short text, else all up to the end of the first step', () => {
  expect(essentialLength(STEPS, 1_000)).toBe(STEPS.length);
  expect(STEPS.slice(0, essentialLength(STEPS, 10))).toMatch(/one[^]*<\/step>\n$/);
  const headings = `# T\n\nIntro\n\n## Step 1: look\n\n### Detail\n\nx\n\n## Step 2: act\n\ny\n`;
  expect(headings.slice(0, essentialLength(headings, 5))).toMatch(/### Detail\n\nx\n\n$/);
  const plain = `# T\n\n${'word '.repeat(20)}\n\n## A\n\n${'word '.repeat(20)}\n\n## B\n\nend\n`;
  expect(plain.slice(0, essentialLength(plain, 30))).not.toContain('## A');
});
