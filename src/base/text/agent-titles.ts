import titles from '../../../assets/agents/titles.json' with { type: 'json' };

/** The roles that BMAD's agents have in English and in French, by the names that BMAD has for them. */
const TITLES: Readonly<Record<string, readonly string[]>> = titles;

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
export function titlesOf(id: string): readonly string[] {
  return Object.hasOwn(TITLES, id) ? (TITLES[id] ?? []) : [];
}
