import { FRENCH } from '../../src/language/french.ts';

/** The fixed parts of a text that have words in them. */
const partsOf = (english: string): string[] =>
  english
    .split(/\{(?:n|\d+)\}/)
    .map((part) => part.trim())
    .filter((part) => /[a-z]{2}/i.test(part));

/** The English texts that can be known again: those of two words and more that the French ones do not have as well. */
const KNOWN = Object.entries(FRENCH).flatMap(([english, french = '']) => {
  const parts = partsOf(english);
  const words = parts.join(' ').match(/[a-z’']{2,}/gi) ?? [];
  const differs = parts.some((part) => !french.includes(part));
  return words.length > 1 && differs && parts.every((part) => part.length > 2) ? [{ english, parts }] : [];
});

function isIn(line: string, parts: readonly string[]): boolean {
  let at = 0;
  return parts.every((part) => {
    at = line.indexOf(part, at) + part.length;
    return at >= part.length;
  });
}

/** Our English texts in what was said in French, but for commands and for what BMAD says of its own. */
export const englishIn = (said: string): string[] =>
  said
    .replaceAll('\u00A0', ' ')
    .replaceAll(/\bbmad [a-z-]+(?: [a-z-]+)?/g, '')
    .split('\n')
    .map((line) => (line.startsWith('- **') ? line.replace(/ : .*| = .*/, '') : line))
    .flatMap((line) =>
      KNOWN.filter(({ parts }) => isIn(line, parts)).map(({ english }) => `${english} ← ${line}`),
    );
