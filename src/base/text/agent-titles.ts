/** The roles that BMAD's agents have in English and in French, by the names that BMAD has for them. */
const TITLES: Readonly<Record<string, string>> = {
  analyst: 'business analyst, analyste, analyste métier, analyste fonctionnel, analyste fonctionnelle',
  architect:
    'system architect, software architect, architecte, architecte logiciel, architecte logicielle, architecte technique, architecte système',
  dev: 'developer, programmer, software engineer, développeur, développeuse, programmeur, programmeuse',
  pm: 'product manager, chef de produit, cheffe de produit, responsable produit',
  po: 'product owner, propriétaire du produit',
  qa: 'tester, test engineer, qa engineer, quality assurance, testeur, testeuse, ingénieur qualité, ingénieure qualité, assurance qualité',
  sm: 'scrum master, facilitateur agile, facilitatrice agile, maître de mêlée',
  tea: 'architecte de test, architecte de tests, architecte des tests',
  'tech-writer': 'technical writer, rédacteur technique, rédactrice technique',
  'ux-designer': 'ux expert, ergonome, concepteur ux, conceptrice ux, designer ux, expert ux, experte ux',
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

/** The agent that a role stands for; nothing for any other name. */
export function agentTitled(name: string): string | undefined {
  const key = keyOf(name);
  return Object.keys(TITLES).find((id) => titlesOf(id).some((title) => keyOf(title) === key));
}

/** The roles of an agent. */
export function titlesOf(id: string): string[] {
  return Object.hasOwn(TITLES, id) ? (TITLES[id]?.split(', ') ?? []) : [];
}
