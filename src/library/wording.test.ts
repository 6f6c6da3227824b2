import { describe, expect, it } from 'vitest';
import { inLibraryWords } from './wording.ts';

describe('hints in the words of the library', () => {
  it.each([
    ['List them with {operation:"list", query:"workflows"}.', 'List them with listWorkflows().'],
    [
      'List the files with {operation:"list", query:"resources"}; pattern:"bmm/**" narrows the list.',
      'List the files with listAllFiles().',
    ],
    ['{operation:"list", query:"resources", pattern:"a/**"}', 'listAllFiles()'],
    ['{operation:"search", query:"…"}', 'search("…")'],
    ['{operation:"execute", workflow:"prd"} starts it', 'activate("prd") starts it'],
    ['{operation:"execute"} delivers it', 'activate() delivers it'],
    ['{operation:"read", uri:"bmad://a"}', 'loadFile("bmad://a")'],
    ['Nothing to change, {not:"a call"}.', 'Nothing to change, {not:"a call"}.'],
  ])('%s', (text, expected) => {
    expect(inLibraryWords(text)).toBe(expected);
  });
});
