import { remembering } from '../../base/remembering.ts';

/** Words that say the contrary of each other about a thing, in English and French. */
const word = (pattern: string): RegExp => new RegExp(`(?<![\\p{L}\\p{N}])(?:${pattern})(?!\\p{L})`, 'iu');

export const PAIRS: readonly (readonly [RegExp, RegExp])[] = [
  [
    word(
      'public(?:ly|s)?|publiques?|anonymous(?:ly)?|anonymes?|open to (?:all|every(?:one|body))|ouverte?s? à tous',
    ),
    word(
      '(?:requires?|needs?|demands?|exig(?:e|ent|era)|nécessit(?:e|ent|era)|demand(?:e|ent)|impos(?:e|ent))\\s{1,3}(?:\\S{1,30}\\s{1,3}){0,3}(?:authentication|authentification|authorization|autorisation|log ?in|sign-in|connexion|an? account|un compte|an? (?:\\S{1,20}\\s{1,3})?(?:token|key)|une? (?:jeton|clé)\\p{L}*)|private|privée?s?|protected|protégée?s?|restricted|restreinte?s?|authenticated|authentifiée?s?',
    ),
  ],
  [
    word('optional(?:ly)?|facultati(?:f|ve)s?|optionnel(?:le)?s?'),
    word('mandatory|required|compulsory|obligatoires?|requise?s?'),
  ],
  [word('enabled|activée?s?|switched on'), word('disabled|désactivée?s?|switched off')],
];

/** What is said with and without such words is the same subject where it names the same place: `/health`. */
const PLACE = /(?<![\p{L}\p{N}/:.])\/[\p{L}\p{N}_{}:-]{1,60}(?:\/[\p{L}\p{N}_{}:.-]{1,60}){0,6}/gu;

const placesIn = (text: string): string[] => (text.match(PLACE) ?? []).map((place) => place.toLowerCase());

/** Of each pair, which of the two a text has. */
const sidesOf = remembering((text) =>
  PAIRS.map(([one, other]) => [one.test(text), other.test(text)] as const),
);

/** Whether two texts have words of which one says the contrary of the other, about what may be the same. */
export function haveOpposites(a: string, b: string): boolean {
  const [ofMine, ofTheirs] = [sidesOf(a), sidesOf(b)];
  const opposed = PAIRS.some((_, at) => {
    const [mine, theirs] = [ofMine[at], ofTheirs[at]];
    // A text with both says something about their relation: `The public API requires a key`.
    if (mine === undefined || theirs === undefined) return false;
    return mine[0] !== mine[1] && theirs[0] !== theirs[1] && mine[0] !== theirs[0];
  });
  if (!opposed) return false;
  const [mine, theirs] = [placesIn(a), placesIn(b)];
  return mine.length === 0 || theirs.length === 0 || mine.some((place) => theirs.includes(place));
}

/** Whether two texts with opposite words are about the same place, whatever else they say. */
export function shareAPlace(a: string, b: string): boolean {
  const theirs = placesIn(b);
  return placesIn(a).some((place) => theirs.includes(place));
}
