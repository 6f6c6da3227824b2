/** Words that only one of the two languages has, and that hardly any sentence does without. */
const WORDS = {
  French: new Set(
    'le les des une est et dans pour que qui sur avec par pas ne sont ce cette ces aux du nous vous il elle ils elles mais ou donc plus être a été doit peut'.split(
      ' ',
    ),
  ),
  English: new Set(
    'the and of to is are was were in that it this these those with for not be by from has have must can should which at as an or but we you they'.split(
      ' ',
    ),
  ),
} as const;
const LEAST_WORDS = 25;
/** The other language may be quoted. */
const CLEARLY = 4;

/** The language that a text is written in, where it is long enough to tell and is plainly one of the two. */
export function spokenLanguage(text: string): keyof typeof WORDS | undefined {
  const prose = text
    .replace(/```[^`]{0,100000}```/g, ' ')
    .replace(/`[^`\n]{0,500}`/g, ' ')
    .replace(/"[^"\n]{1,60}"\s{0,3}:/g, ' ');
  const words = prose.toLowerCase().match(/\p{L}+/gu) ?? [];
  if (words.length < LEAST_WORDS) return undefined;
  const count = (language: keyof typeof WORDS): number =>
    words.filter((word) => WORDS[language].has(word)).length;
  const [french, english] = [count('French'), count('English')];
  const least = words.length / 10;
  if (french >= least && french > CLEARLY * english) return 'French';
  return english >= least && english > CLEARLY * french ? 'English' : undefined;
}

/** In a line every word counts: those that both languages have are left out, and more of each are known. */
const BOTH = new Set('a as an or on plus son'.split(' '));
const MORE = {
  French:
    'en un au sans sous tous toute toutes jamais toujours leur nos notre se sa chaque entre avant après',
  English: 'within after before when every never our its does will only then than there their been',
} as const;
const LEAST_IN_LINE = 2;

/** The language of a sentence or two; nothing unless it is plainly one of the two. */
export function lineLanguage(text: string): keyof typeof WORDS | undefined {
  const long = spokenLanguage(text);
  if (long !== undefined) return long;
  const words =
    text
      .replace(/`[^`\n]{0,500}`/g, ' ')
      .toLowerCase()
      .match(/\p{L}+/gu) ?? [];
  const count = (language: keyof typeof WORDS): number => {
    const more = MORE[language].split(' ');
    return words.filter((word) => !BOTH.has(word) && (WORDS[language].has(word) || more.includes(word)))
      .length;
  };
  const [french, english] = [count('French'), count('English')];
  if (french >= LEAST_IN_LINE && english === 0) return 'French';
  return english >= LEAST_IN_LINE && french === 0 ? 'English' : undefined;
}

const NAMES = {
  French: /^fr(?:$|[^\p{L}]|an[cç]|ench)/iu,
  English: /^(?:en(?:$|[^\p{L}]|gl)|anglais)/iu,
} as const;

/** Which of the two languages a setting names: `Français`, `fr-FR`, `anglais`; nothing for any other. */
export function namedLanguage(name: string): keyof typeof WORDS | undefined {
  if (NAMES.French.test(name)) return 'French';
  return NAMES.English.test(name) ? 'English' : undefined;
}
