import { describe, expect, it } from 'vitest';
import { refusal } from '../../../tests/support/thrown.ts';
import { shownNote, showText } from './shown-text.ts';

const options = { detail: 'standard', maxBytes: 3_000 } as const;
const filler = `${'Some words that fill a line.\n'.repeat(10)}\n`;
/** So many sections, each with so many in it. */
const chapters = (count: number, inner: number): string =>
  Array.from({ length: count }, (_, index) => {
    const inside = Array.from(
      { length: inner },
      (_none, at) => `### ${index + 1}.${at + 1} Part\n\n${filler}`,
    );
    return `## ${index + 1}. Chapter\n\n${filler}${inside.join('')}`;
  }).join('');

describe('the sections that are still to come', () => {
  it('are told to the last chapter, and that there are more inside', () => {
    const note = shownNote(showText(chapters(12, 3), options));
    expect(note).toContain('12. Chapter · and ');
    expect(note).not.toContain('11.1 Part');
  });

  it('are counted where not all can be named', async () => {
    const { sectionsLeft = [], sectionsMore = 0 } = showText(chapters(40, 0), options);
    expect(sectionsLeft).toHaveLength(20);
    expect(sectionsMore).toBeGreaterThan(10);
    const { hint } = await refusal(() => showText(chapters(40, 0), { ...options, section: 'Nowhere' }));
    expect(hint).toContain('30. Chapter · and 10 more.');
  });

  it('are all named, and nothing else is said, where there are few', () => {
    expect(shownNote(showText(chapters(15, 0), options))).toMatch(/15\. Chapter\.$/);
  });
});

const TEMPLATE = `# <!-- Powered by BMAD™ Core -->
template:
  id: prd
  output:
    title: "The document"

sections:
  - id: goals
    title: Goals
    instruction: |
      ## Not a section
      Ask for them.
    sections:
      - id: background
        title: "Background: why"
        type: paragraphs
  - id: loose
    type: bullet-list
  - id: requirements
    title: Requirements
`;

describe('a template in YAML', () => {
  it('has the titles of its sections', () => {
    const first = showText(TEMPLATE + filler.replaceAll(/^(?=.)/gm, '    ').repeat(20), options);
    expect(first.sectionsLeft).toEqual([]);
    expect(showText(TEMPLATE, { ...options, section: 'Goals' }).text).toMatch(
      /^ {2}- id: goals\n[^]*paragraphs\n$/,
    );
    expect(showText(TEMPLATE, { ...options, section: 'Background: why' }).text).toMatch(
      /^ {6}- id: background\n[^]*paragraphs\n$/,
    );
  });
});
