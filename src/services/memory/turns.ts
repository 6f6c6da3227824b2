/** Verbs by which something is no longer so, in English and French. */
const GIVE_UP =
  'abandon(?:s|ed|ing|n\\p{L}*)?|drop(?:s|ped|ping)?|give[sn]? up|gave up|stop(?:s|ped|ping)?|retir(?:e[sd]?|ing|é\\p{L}*|ons|ent)|' +
  'deprecat(?:e[sd]?|ing)|replac(?:e[sd]?|ing)|remplac\\p{L}*|renonc\\p{L}*|arr[êe]t\\p{L}*|délaiss\\p{L}*';
/** The two parts around the French verb, however the apostrophe is typed; `plus` alone may mean more. */
const NE_PAS =
  "ne\\s{1,3}(?:\\S{1,30}\\s{1,3}){0,2}?(?:pas|plus|jamais|aucune?)|n['’]\\S{1,30}\\s{1,3}(?:\\S{1,30}\\s{1,3})?(?:pas|plus|jamais|aucune?)";
const NOT = "not|never|cannot|(?:do|does|did|is|are|was|were|wo|ca|should|must)n['’]t";
const word = (pattern: string, flags: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])(?:${pattern})(?![\\p{L}])`, flags);
/** What something else has taken the place of. */
const IN_PLACE_OF = "instead of|rather than|plutôt qu[e'’]|au lieu d[eu'’]";
/** `La base est désormais MongoDB, plus PostgreSQL`; `plus rapide que` compares. */
const NOW_NOT =
  '(?<=(?:désormais|dorénavant|maintenant)[^.!?]{1,80}[,;]\\s{0,3}(?:et\\s{1,3})?)plus(?=\\s{1,3}\\p{L})(?!\\s{1,3}\\p{L}{1,30}\\s{1,3}qu)';
/** That something does not have to be done. */
const NEEDLESS =
  "no need|need not|needn['’]t|needless|unnecessary|inutile|superflue?s?|pas\\s{1,3}(?:besoin|nécessaire|la peine|obligatoire)";
/** That something is no longer so. */
export const GIVEN_UP = word(
  `${GIVE_UP}|no longer|no more|any ?more|${NE_PAS.replaceAll('pas|plus|jamais|aucune?', 'plus')}|non\\s{1,3}plus|plus\\s{1,3}(?:de|d['’])|fini|${NOW_NOT}|${IN_PLACE_OF}`,
  'giu',
);
/** Words that deny, or say that something is no longer so. */
export const TURN = word(
  `${NOT}|${GIVE_UP}|no longer|no more|${IN_PLACE_OF}|${NOW_NOT}|${NEEDLESS}|forbidden|${NE_PAS}|(?:et\\s{1,3})?non\\s{1,3}(?:plus|pas)|plus\\s{1,3}de(?=\\s{1,3}\\p{Lu})|jamais|interdit\\p{L}*`,
  'giu',
);
/** What is not given up stays. */
export const KEPT = word(
  `(?:${NOT})\\s{1,3}(?:to\\s{1,3}|be\\s{1,3}|being\\s{1,3})?(?:${GIVE_UP})|ne\\s{1,3}(?:${GIVE_UP})\\s{1,3}(?:pas|jamais)|n['’](?:${GIVE_UP})\\s{1,3}(?:pas|jamais)`,
  'giu',
);
