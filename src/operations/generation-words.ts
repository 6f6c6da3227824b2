import table from '../../assets/words/generations.json' with { type: 'json' };

/** A phrase of the instructions or of a description, and what it is in another generation of BMAD. */
type Phrase = readonly [ofToday: string, ofThen: string];

/**
 * Of version 4, of the first alphas, and of the releases that named workflows after what is done: before 6.12, and from the
 * last alphas on.
 */
const PHRASES = table as unknown as Record<keyof typeof table, readonly Phrase[]>;

/** The first alphas whose workflows have a verb in their names. */
const ALPHAS_WITH_VERBS = 20;

/** What to say instead in a project of this version; nothing where the words are those of today. */
export function phrasesOf(version: string): readonly Phrase[] {
  const [, major, minor, alpha] = /^(\d+)\.(\d+)(?:\.\d+-alpha\.(\d+))?/i.exec(version) ?? [];
  if (Number(major) === 4) return PHRASES['4'];
  if (Number(major) !== 6 || Number(minor) >= 12) return [];
  return Number(alpha ?? ALPHAS_WITH_VERBS) < ALPHAS_WITH_VERBS
    ? PHRASES['first alphas']
    : PHRASES['before 6.12'];
}

/** The agents that descriptions name, and how much room there is for the names of others. */
const AGENTS = 'architect, pm, analyst, dev, ux-designer';
const ROOM = 80;

/** Agents of the project itself are named first, as many as there is room for. */
function ownAgents(own: readonly string[]): Phrase[] {
  const named = own.filter((_, index) => own.slice(0, index + 1).join(', ').length <= ROOM);
  return named.length === 0 ? [] : [[AGENTS, `${named.join(', ')}, architect, dev`]];
}

/** Writes a text with the names that a project of this version, with these agents of its own, knows. */
export function wordingOf(
  version: string | undefined,
  own: readonly string[] = [],
): (text: string) => string {
  const phrases = [...ownAgents(own), ...(version === undefined ? [] : phrasesOf(version))];
  return (text) => phrases.reduce((written, [today, then]) => written.replaceAll(today, then), text);
}
