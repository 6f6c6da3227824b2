import { oneLine } from '../../base/text/text.ts';

/** Words for something that one story is enough for, in English and French; beside these nouns they mean something else. */
const SMALL =
  /\b(?:small|tiny|little|simple|minor|quick|petite?s?|minuscules?|simples|rapide)\b(?! (?:business|compan|compagn|enterprise|entreprise|team|équipe|shop|commerce|boutique|magasin|child|enfant|time|money|budget|experience|expérience))/iu;
const NOT_SMALL =
  /(?:\bnot|n(?:'|’)t|\bpas|\brien de)(?: an?| une?| so| si| really| vraiment){0,2} (?:small|tiny|little|simple|minor|quick|petit|rapide)/iu;
const ONE =
  /\b(?:one|single|just an?|only an?|une? seule?|juste une?|seulement une?) (?:command|script|file|function|page(?![ -]app)|endpoint|route|button|field|option|change|commande|fichier|fonction|bouton|champ|changement)\b/iu;
const ONE_THING =
  /^(?:(?:i|we) (?:want|need|would like) |je (?:veux|voudrais) |(?:please )?(?:add|write|make) |ajoute[rz]? |écri(?:s|vez|re) )?(?:an?|une?) (?:\p{L}+ ){0,2}(?:command|script|function|endpoint|button|option|flag|commande|fonction|bouton)(?!\p{L}| cent(?:er|re))/iu;
const REPAIR =
  /^(?:please |can you |could you |peux-tu |pouvez-vous |merci de )?(?:fix|repair|rename|tweak|hotfix|corrige[rz]?|répare[rz]?|renomme[rz]?)(?!\p{L})|\b(?:a|the|this|that|une?|le|la|ce|cette) (?:\p{L}+ )?(?:bug|typo|bogue|coquille)\b(?! (?:track|report|database|bount))/iu;
/** What is small beside these is only a part of it. */
const LARGE =
  /\b(?:platform|marketplace|saas|multi-?tenant|suite of|erp|crm|e-?commerce|plateforme|place de marché|plusieurs modules)\b/iu;
/** Who lists this much wants more than one story. */
const MOST_PARTS = 5;
const MOST_CHARACTERS = 400;

/** Whether what the user wants is small enough to be built at once. */
export function isSmall(wish: string): boolean {
  const parts = wish.split(/[,;]| and | et /iu).length;
  return (
    [SMALL, ONE, ONE_THING, REPAIR].some((sign) => sign.test(wish.trim())) &&
    !LARGE.test(wish) &&
    !NOT_SMALL.test(wish) &&
    parts <= MOST_PARTS &&
    wish.length <= MOST_CHARACTERS
  );
}

/** A question, unless it is a polite way to want something. */
const QUESTION =
  /^(?!(?:can|could|would|will) you\b|(?:peux|pourrais)-tu\b|(?:pouvez|pourriez)-vous\b).*\?\s*$|^(?:what|where|which|how far|que|quoi|quel(?:le)?s?|où)(?!\p{L})(?! (?:i|we) (?:want|need|would like))/isu;
/** What asks to go on, or only agrees. */
const GOES_ON =
  /^(?:status|progress|continue[rz]?|next|go on|go ahead|go|resume|ok(?:ay)?|yes|hello|hi|thanks|thank you|état|la suite|suite|reprend[sz]?|reprenez|oui|d(?:'|’)accord|vas-y|allez-y|bonjour|merci)(?:,? (?:of|with|on|it|the|this|that|please|project|work|steps?|de|du|avec|le|la|ce|projet|travail|étapes?|stp|svp))*[.! ]*$/iu;

/** Whether somebody wants something, and does not only ask how far the project is or to go on with it. */
export function isWish(words: string): boolean {
  const said = words.trim();
  return said !== '' && !QUESTION.test(said) && !GOES_ON.test(said);
}

/** A longer wish need not be repeated to who has just said it. */
const SHORT_WISH = 200;

export function repeated(wish: string): { about?: string } {
  const said = oneLine(wish, SHORT_WISH + 1);
  return said.length > SHORT_WISH ? {} : { about: said };
}
