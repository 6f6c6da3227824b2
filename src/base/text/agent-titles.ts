/** What BMAD's agents are called in French, by the names that BMAD has for them. */
const TITLES: Readonly<Record<string, string>> = {
  analyst: 'analyste, analyste métier, analyste fonctionnel, analyste fonctionnelle',
  architect:
    'architecte, architecte logiciel, architecte logicielle, architecte technique, architecte système',
  dev: 'développeur, développeuse, programmeur, programmeuse',
  pm: 'chef de produit, cheffe de produit, responsable produit',
  po: 'propriétaire du produit',
  qa: 'testeur, testeuse, ingénieur qualité, ingénieure qualité, assurance qualité',
  sm: 'facilitateur agile, facilitatrice agile, maître de mêlée',
  tea: 'architecte de test, architecte de tests, architecte des tests',
  'tech-writer': 'rédacteur technique, rédactrice technique',
  'ux-designer': 'ergonome, concepteur ux, conceptrice ux, designer ux, expert ux, experte ux',
};

/** With or without accents, capitals and hyphens. */
const keyOf = (name: string): string =>
  name
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .trim()
    .replace(/^(?:l['’]|(?:le|la|un|une|notre|mon|ma)\s)\s*/, '')
    .replace(/[\s_-]+/g, ' ');

/** The agent that a French title stands for; nothing for any other name. */
export function agentTitled(name: string): string | undefined {
  const key = keyOf(name);
  return Object.keys(TITLES).find((id) => titlesOf(id).some((title) => keyOf(title) === key));
}

/** The French titles of an agent. */
export function titlesOf(id: string): string[] {
  return Object.hasOwn(TITLES, id) ? (TITLES[id]?.split(', ') ?? []) : [];
}
