import { oneLine } from '../../base/text/text.ts';

/** Words for something that one story is enough for, in English and French. */
const SMALL =
  /\b(?:small|tiny|little|simple|minor|quick|petite?s?|minuscules?|simples|rapide)\b(?! (?:business|compan|compagn|enterprise|entreprise|team|équipe|shop|commerce|child|enfant))/iu;
const ONE =
  /\b(?:one|single|just an?|only an?|une? seule?|juste une?|seulement une?) (?:command|script|file|function|page|endpoint|route|button|field|option|change|commande|fichier|fonction|bouton|champ|changement)/iu;
const REPAIR = /\b(?:fix|bug|typo|rename|tweak|hotfix|corrige|bogue|coquille|renomme)/iu;
/** What is small beside these is only a part of it. */
const LARGE =
  /\b(?:platform|marketplace|saas|multi-?tenant|suite of|erp|crm|plateforme|place de marché|plusieurs modules)\b/iu;

/** Whether what the user wants is small enough to be built at once. */
export function isSmall(wish: string): boolean {
  return (SMALL.test(wish) || ONE.test(wish) || REPAIR.test(wish)) && !LARGE.test(wish);
}

/** A longer wish need not be repeated to who has just said it. */
const SHORT_WISH = 200;

export function repeated(wish: string): { about?: string } {
  const said = oneLine(wish, SHORT_WISH + 1);
  return said.length > SHORT_WISH ? {} : { about: said };
}
