import { expect, it } from 'vitest';
import { tidyText } from './tidy-text.ts';

it.each([
  ['takes away what all lines are indented by', '\n    - a\n      - b\n    - c\n', '- a\n  - b\n- c'],
  ['keeps a list below another', '- a\n  - b\n    - c\n  - d', '- a\n  - b\n    - c\n  - d'],
  ['drops blank ends and runs of blank lines', 'a  \n\n\n \nb\r\n', 'a\n\nb'],
  [
    'leaves code in a fence as it is',
    'x\n```\nif a:\n        b\n\n\n    c  \n```\n\n\ny',
    'x\n```\nif a:\n        b\n\n\n    c  \n```\n\ny',
  ],
  ['gives nothing for nothing', ' \n \n', ''],
])('%s', (_what, text, tidied) => {
  expect(tidyText(text)).toBe(tidied);
});

it('does not count the first line of what begins behind a tag', () => {
  expect(tidyText('- a\n      - b\n        - c', true)).toBe('- a\n- b\n  - c');
});
