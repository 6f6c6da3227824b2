import titles from '../../../assets/agents/titles.json' with { type: 'json' };
import { BmadError, quoted } from '../errors.ts';
import { refuseSecret } from '../secrets/scanner.ts';
import { t } from './message.ts';

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

const LENGTH = 100;

/** The name of an agent as it may be kept: it may become the name of a file, so it leads nowhere, and it has no secret in it. */
export function agentName(raw: string, subject = 'agent'): string {
  const agent = raw.normalize('NFC').trim();
  // First, because the other refusal repeats what was given.
  refuseSecret(agent, subject);
  const wrong = agent === '' || agent.startsWith('.') || /[/\\:|]|\.\.|[\p{C}\u2028\u2029]/u.test(agent);
  if (!wrong && Array.from(agent).length <= LENGTH) return agent;
  throw new BmadError('invalid_input', t`${quoted(raw)} is not a valid agent name.`, {
    subject,
    hint: t`Use a plain name such as "dev" or "architect", without slashes or a leading dot.`,
  });
}
