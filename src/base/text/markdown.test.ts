import { describe, expect, it } from 'vitest';
import { growth } from '../../../tests/support/work.ts';
import { byteLength } from './text.ts';
import { cutToFit, findSection, headingIn, outline, withoutExamples } from './markdown.ts';

/** The outline with the text of each section instead of its offsets. */
function shown(text: string): string[] {
  return outline(text).map(
    ({ level, title, start, end }) => `${level} ${title}: ${JSON.stringify(text.slice(start, end))}`,
  );
}

describe('outline', () => {
  it('takes no comment for a heading', () => {
    expect(outline('# <!-- Powered by BMAD -->\n\n# Real\n').map(({ title }) => title)).toEqual(['Real']);
  });

  it('nests sections: each ends at the next heading of its level or above', () => {
    expect(shown('intro\n# A\none\n## B\ntwo\n### C\nthree\n## D\nfour\n# E\n')).toMatchInlineSnapshot(`
      [
        "1 A: "# A\\none\\n## B\\ntwo\\n### C\\nthree\\n## D\\nfour\\n"",
        "2 B: "## B\\ntwo\\n### C\\nthree\\n"",
        "3 C: "### C\\nthree\\n"",
        "2 D: "## D\\nfour\\n"",
        "1 E: "# E\\n"",
      ]
    `);
  });

  it('closes a deeper first section at a higher heading', () => {
    expect(shown('### A\n# B\n## C')).toEqual(['3 A: "### A\\n"', '1 B: "# B\\n## C"', '2 C: "## C"']);
  });

  it('cleans titles', () => {
    const titles = outline('# **Bold** `code` ##\n##   Spaced  \n###\ttabbed\r\n## C# and F#\n').map(
      ({ title }) => title,
    );
    expect(titles).toEqual(['Bold code', 'Spaced', 'tabbed', 'C# and F#']);
  });

  it.each([
    ['no space', '#tag'],
    ['seven marks', '####### x'],
    ['no title', '# '],
    ['a fence of backticks', '```\n# x\n```'],
    ['a fence of tildes', '~~~\n# x\n~~~'],
    ['an indented fence', '   ```js\n# x\n   ```'],
    ['a shorter fence inside a longer', '````\n```\n# x\n```\n````'],
    ['tildes inside backticks', '```\n~~~\n# x\n```'],
    ['a fence that only looks closed, because it names a language', '```\n```js\n# x\n```'],
    ['a fence that never ends', '```\n# x'],
  ])('finds no heading where there is none: %s', (_, text) => {
    expect(outline(text)).toEqual([]);
  });

  it.each([
    ['after a fence', '```\n# no\n```\n# yes'],
    ['after a fence closed by a longer one', '```\n# no\n`````  \n# yes'],
    ['after code in one line', '```code``` in a line\n# yes'],
    ['after an indented block', '    ```\n# yes'],
    ['with CRLF', '```\r\n# no\r\n```\r\n# yes\r\n'],
  ])('finds the heading %s', (_, text) => {
    expect(outline(text).map(({ title }) => title)).toEqual(['yes']);
  });

  it('gets through a hundred thousand headings', () => {
    const sections = outline('# a\n## b\n'.repeat(50_000));
    expect(sections.length).toBe(100_000);
    expect(sections.at(-2)).toEqual({ title: 'a', level: 1, start: 449_991, end: 450_000 });
  });
});

describe('findSection', () => {
  const sections = outline('# Steps\n## Step 1: Begin\n## Step 10\n## **On** `Exit`\n## __proto__');
  it.each([
    ['Steps', 'Steps'],
    ['steps', 'Steps'],
    ['## Step 10', 'Step 10'],
    ['Step', 'Steps'],
    ['step 1', 'Step 1: Begin'],
    ['**on** exit', 'On Exit'],
    ['__PROTO__', '__proto__'],
    ['constructor', undefined],
    ['Exit', undefined],
    ['', undefined],
    ['##', undefined],
  ])('finds for %j the section %j', (wanted, title) => {
    expect(findSection(sections, wanted)?.title).toBe(title);
  });
});

describe('cutToFit', () => {
  it('keeps a step whole where the part is long enough without it', () => {
    const step = (n: number, lines: number): string =>
      `  <step n="${n}">\n${'    <action>Do it</action>\n\n'.repeat(lines)}  </step>\n\n`;
    const [first, second] = [step(1, 20), step(2, 30)];
    expect(cutToFit(first + second, Buffer.byteLength(first) * 2)).toBe(first);
    // One that would leave next to nothing is cut at an empty line.
    expect(cutToFit(step(1, 2) + second, Buffer.byteLength(first)).length).toBeGreaterThan(500);
  });

  it('does not end behind a line that announces what follows', () => {
    const text = `${'Words of a line.\n'.repeat(20)}**Options:**\n\n- One\n- Two\n`;
    for (const end of ['**Options:**\n', '**Options:**\n\n', '**Options:**\n\n- O']) {
      const room = text.indexOf(end) + end.length;
      expect(cutToFit(text, room)).toBe('Words of a line.\n'.repeat(20));
    }
  });

  it('cuts before an example, not at a heading in it', () => {
    const rule = 'Save it, then go on. '.repeat(3);
    const text = `# Step\n\n${rule}\n\n${rule}\n\n\`\`\`markdown\n## Results\n\n{text}\n\n## More\n\`\`\`\n\n## Next\n\n${rule}`;
    const part = cutToFit(text, text.indexOf('## More') + 4);
    expect(part).toBe(text.slice(0, text.indexOf('\n```markdown')));
    expect(cutToFit(text, text.indexOf('## Next') + 12)).toBe(text.slice(0, text.indexOf('## Next')));
  });

  it.each([
    ['all of it when it fits', 'abcdef', 6, 'abcdef'],
    ['up to a heading', 'aaaaaaaaaaaaaaaa\n## b\n\nc\nddddddd', 26, 'aaaaaaaaaaaaaaaa\n'],
    ['up to a paragraph', 'aaaaaaaaaaaaa\n\nb\nccccccc', 20, 'aaaaaaaaaaaaa\n'],
    ['up to a line', 'aaaaaaaaaaaa\nbbbbbbbbbbbbb', 18, 'aaaaaaaaaaaa\n'],
    ['up to a character, when the line break is too far back', 'a\nbbbbbbbbbbbbbbb', 10, 'a\nbbbbbbbb'],
    ['whole characters', 'aaa😀😀', 8, 'aaa😀'],
    ['one character where there is room for none', '😀😀', 1, '😀'],
    ['an empty text', '', 4, ''],
  ])('gives %s', (_, text, budget, head) => {
    expect(cutToFit(text, budget)).toBe(head);
    expect(byteLength(head)).toBeLessThanOrEqual(Math.max(4, budget));
  });
});

describe('a text without its examples', () => {
  it.each([
    ['a <!-- b --> c\nd', ['a  c', 'd']],
    ['a\n<!-- b\nc\n--> d\ne', ['a', '', '', ' d', 'e']],
    ['a <!-- b\nc\nd', ['a ', 'c', 'd']],
    ['a <!-- b\nc\n<!-- d\ne -->\nf', ['a ', 'c', '', '', 'f']],
    ['a <!-- b <!-- c --> d\ne', ['a  d', 'e']],
    ['a --> b\nc <!-- d\ne', ['a --> b', 'c ', 'e']],
    ['<!-- a --> b <!-- c --> d', [' b  d']],
    ['a <!--', ['a ']],
    ['<!--> a\nb', ['', 'b']],
    ['a\n```\nb\n```\nc', ['a', '', '', '', 'c']],
    ['```\n```js\n# b\n```\nc', ['', '', '', '', 'c']],
    ['```a``` b\n# c', ['```a``` b', '# c']],
  ])('of %j is %j', (text, lines) => {
    expect(withoutExamples(text)).toEqual(lines);
  });

  it('does not take long for many marks', () => {
    expect(withoutExamples('- x <!-- y\n'.repeat(100_000))).toHaveLength(100_001);
    expect(growth((count) => withoutExamples('- x <!-- y\n'.repeat(count)), 10_000)).toBeLessThan(40);
  });
});

describe('headingIn', () => {
  it.each([
    ['# A', { level: 1, title: 'A' }],
    ['###   A b  ###  ', { level: 3, title: 'A b' }],
    ['## C#', { level: 2, title: 'C#' }],
    ['## #', { level: 2, title: '' }],
    ['##', { level: 2, title: '' }],
    ['#A', undefined],
    ['####### A', undefined],
    ['A # B', undefined],
  ])('reads %j', (line, heading) => {
    expect(headingIn(line)).toEqual(heading);
  });

  it('does not take long for many blanks and marks', () => {
    for (const part of [' ', '#', ' #', '# ', '\t ']) {
      expect(headingIn(`# ${part.repeat(200_000)}x`)?.title.endsWith('x')).toBe(true);
      expect(growth((count) => headingIn(`# ${part.repeat(count)}x`), 10_000)).toBeLessThan(40);
    }
  });
});
