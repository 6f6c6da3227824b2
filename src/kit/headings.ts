/** What a heading is about, in French and in English; other words for it are in the patterns. */
export type Topic =
  | 'project'
  | 'stack'
  | 'architecture'
  | 'api'
  | 'database'
  | 'environment'
  | 'variables'
  | 'infrastructure'
  | 'agents'
  | 'conventions'
  | 'vigilance'
  | 'requests';

const TOPICS: readonly [Topic, RegExp][] = [
  ['requests', /requetes? inter-?agents?|inter-?agents? requests?/],
  ['agents', /equipe d'agents|agents custom|custom agents?|agents? team|^(?:les )?agents$/],
  ['stack', /^(?:stack|tech)\b|technology stack/],
  ['vigilance', /points? de vigilance|points? of attention|watch ?points?|known risks/],
  ['variables', /variables? d'environnement|environment variables?/],
  ['environment', /environnement local|local environment|development environment/],
  ['database', /base de donnees|databases?/],
  ['infrastructure', /^infrastructure/],
  ['architecture', /^architecture/],
  ['api', /^api\b/],
  ['conventions', /^conventions?/],
  ['project', /^(?:projet|project)\b/],
];

/** A heading without accents, marks and case, with one kind of apostrophe: `équipe d’agents` is `equipe d'agents`. */
export function plainTitle(title: string): string {
  return title
    .normalize('NFD')
    .replace(/[\u0300-\u036F*_`#]/g, '')
    .replace(/[’‘ʼ]/g, "'")
    .replace(/[^\p{L}\p{N}'/ -]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

export function topicOf(title: string): Topic | undefined {
  const plain = plainTitle(title);
  return TOPICS.find(([, pattern]) => pattern.test(plain))?.[0];
}
