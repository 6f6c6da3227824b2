import table from '../../assets/words/french.json' with { type: 'json' };

/**
 * Forms of French words that the rules of the stemmer leave apart: the first person plural, which looks like the plural of
 * a noun, and nouns that are made from verbs in another way than by `-ement` and `-ation`.
 */

/** May stand between `nous` and its verb. */
const BETWEEN = new Set(table.between);

/** Whether the words so far make the next one a verb of `nous`; handed on from word to word. */
export function expectsVerb(plain: string, before: boolean): boolean {
  return plain === 'nous' || (before && BETWEEN.has(plain));
}

/** Endings that hardly any noun has: `déployons`, `optimisons`, `hébergeons`. */
const ALWAYS_VERB = /(?:[aeou]yons|(?:al|il|an|at|ar|or|ur|im|ot|ic)isons|[^d][aeour]geons)$/;
const NOUNS = new Set(table.nouns);

/** `déployons` as `déployer`; any other word as it is. `-ions` is left to the stemmer, which knows `validations`. */
export function infinitive(word: string, followsNous: boolean): string {
  if (!word.endsWith('ons') || word.length < 6 || word.endsWith('ions')) return word;
  if (!followsNous && (!ALWAYS_VERB.test(word) || NOUNS.has(word))) return word;
  const root = word.slice(0, -3);
  if (root.endsWith('ge')) return `${root.slice(0, -1)}er`;
  return root.endsWith('ç') ? `${root.slice(0, -1)}cer` : `${root}er`;
}

/** Stems of one word in French and English, or of a verb and its noun, that the rules leave apart. */
const SAME: Readonly<Record<string, string>> = table.same;

/**
 * Families of words whose stem changes, by stem, the first for all: `choisir` and `choix`, `échouer` and `échec`, `réduire` and
 * `réduction`. Stems that English words with another meaning share are left out.
 */
const FAMILIES = new Map(
  table.families.flatMap((family) => {
    const [head = '', ...others] = family.split(' ');
    return others.map((other): [string, string] => [other, head]);
  }),
);

/** Verbs whose noun ends in `-age`, by stem: most words with this ending are none, such as `page` and `message`. */
const WITH_AGE = new Set(table.withAge);

export function sameStem(stem: string): string {
  const known = Object.hasOwn(SAME, stem) ? SAME[stem] : undefined;
  if (known !== undefined) return known;
  const head = FAMILIES.get(stem);
  if (head !== undefined) return head;
  if (stem === 'nettoyag') return 'netto';
  const verb = stem.endsWith('ag') ? stem.slice(0, -2) : '';
  return WITH_AGE.has(verb) ? verb : stem;
}
