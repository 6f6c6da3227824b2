import type { Activation, Call } from '../context.ts';

/** Where a wish ends: what follows would make it a part of what is to be built. */
const END = String.raw`(?=\s{0,3}(?:$|[.,;:!)\n]|(?:please|and|but|et|mais|stp|svp|merci)\b))`;
/** Where a sentence or a part of it begins: in the middle, the same words describe what is to be built. */
const BEGIN = String.raw`(?<=^|[.,;:!?(\n–—-]\s{0,3}|\b(?:and|but|so|then|please|just|et|mais|alors|donc|svp|stp)\s)`;
const NOT = String.raw`(?:do not|don(?:'|’)?t|never|without|no need to)(?: ever| stop to| stopping to)?`;

/** What a user says who wants no questions. */
export const WISHES: readonly RegExp[] = [
  /\bdecide (?:(?:it|all|that|everything) )?(?:for |by )?(?:yourself|yourselves|on your own)\b/i,
  /\buse your (?:own |best )?judge?ment\b/i,
  new RegExp(String.raw`${BEGIN}you decide(?: everything)?${END}`, 'i'),
  new RegExp(String.raw`${BEGIN}(?:it(?:'|’)s|it is) your (?:call|choice|decision)${END}`, 'i'),
  new RegExp(String.raw`${BEGIN}(?:i want )?no (?:more |further )?questions(?: asked)?${END}`, 'i'),
  new RegExp(
    String.raw`\b${NOT} ask(?:ing)? (?:me|us)(?: (?:anything|any questions|questions|back|again|first))?${END}`,
    'i',
  ),
  new RegExp(
    String.raw`${BEGIN}${NOT} ask(?:ing)?(?: (?:anything|any questions|questions|back|again|first))?${END}`,
    'i',
  ),
  /\b(?:d[ée]cidez?|choisis(?:sez)?)[ -](?:de |le |la |les )?(?:tout )?(?:par )?(?:toi|vous)[ -]m[êe]mes?/iu,
  /\bd[ée]cidez? (?:à ma place|pour moi|(?:tout |toute )?seule?s?\b)/iu,
  new RegExp(String.raw`${BEGIN}(?:tu|vous) d[ée]cide[sz](?: de tout)?${END}`, 'iu'),
  /(?<!\p{L})à (?:toi|vous) de (?:d[ée]cider|voir|choisir)(?!\p{L})/iu,
  new RegExp(
    String.raw`${BEGIN}(?:pas de|plus de|aucune|sans (?:me |nous )?poser (?:de|aucune)) questions?${END}`,
    'iu',
  ),
  /\bsans (?:me|nous) poser (?:de|aucune) questions?(?!\p{L})/iu,
  /\bne (?:me |nous )(?:demandez?|posez?|consultez?) (?:rien|pas|plus|aucune)(?!\p{L})/iu,
  /\bsans (?:rien )?(?:me|nous) (?:demander|consulter|interroger)(?!\p{L})/iu,
];

const ASKING = /\bask me\b|\b(?:demandez?|posez?)-moi\b|\binterview me\b|\binterrogez?-moi\b/iu;
const DENIED = /\b(?:not|dont|never|without|no need|ne|pas|sans)\b|n(?:'|’)t\b/iu;

/** Whether a user asks to be asked; a part of a sentence that denies something does not. */
function wantsQuestions(message: string): boolean {
  return message.split(/[.,;:!?\n]/u).some((part) => ASKING.test(part) && !DENIED.test(part));
}

/** Whether the user has said that they want no questions: in this message or, unless taken back, in an earlier one. */
export function wantsNoQuestions(message: string | undefined, { recent }: Call): boolean {
  const said =
    message === undefined
      ? undefined
      : WISHES.some((wish) => wish.test(message))
        ? true
        : wantsQuestions(message)
          ? false
          : undefined;
  // Where several conversations could be meant, an earlier message may be somebody else's.
  if (recent?.given === undefined) return said === true;
  if (said !== undefined) recent.unasked = said;
  return recent.unasked === true;
}

/** What to do where a text waits for answers. BMAD's own ways come first. */
export function wayUnasked(text: string): string {
  if (/\bheadless\b/i.test(text)) return 'follow its rules for headless runs';
  if (/#yolo\b|\byolo mode\b/i.test(text)) return 'use its YOLO mode';
  return 'assume answers and approvals';
}

/** What stays a person's, whatever a model may assume. */
const NOT_ASSUMED = 'not what a person must allow (trust)';

/** That the user wants no questions, as a fact, before a text that asks some. */
export function noQuestions(
  { material }: Activation,
  message: string | undefined,
  call: Call,
): string | undefined {
  if (!wantsNoQuestions(message, call)) return undefined;
  const text = [...material.files.map((file) => file.text), ...(material.beside ?? [])].join('\n');
  return `The user wants no questions: ${wayUnasked(text)} at every menu, HALT and choice, now and later; ${NOT_ASSUMED}.`;
}
