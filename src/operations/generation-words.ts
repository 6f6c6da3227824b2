/** A phrase of the instructions or of a description, and what it is in another generation of BMAD. */
type Phrase = readonly [ofToday: string, ofThen: string];

/** Of the releases that named workflows after what is done: before 6.12, and from the last alphas on. */
const BEFORE_6_12: readonly Phrase[] = [
  ['(prd, architecture, build,', '(create-prd, create-architecture, create-epics-and-stories,'],
  ['like prd, architecture,', 'like create-prd, create-architecture,'],
  ['workflow:"prd"', 'workflow:"create-prd"'],
  ['short (prd), full (bmad-prd), qualified (bmm/prd)', 'short (create-prd), qualified (bmm/create-prd)'],
  ['e.g. prd,', 'e.g. create-prd,'],
  ['"prd"', '"create-prd"'],
  ['bmm/prd', 'bmm/create-prd'],
  ['category:"plan"', 'category:"planning"'],
  ['Phase, e.g. plan', 'Phase, e.g. planning'],
];

const FIRST_ALPHAS: readonly Phrase[] = [
  ['(prd, architecture, build,', '(prd, architecture, create-epics-and-stories,'],
  ['short (prd), full (bmad-prd), qualified (bmm/prd)', 'short (prd), qualified (bmm/prd)'],
  ['a menu code (CA)', 'a command of its menu (*prd)'],
  ['category:"plan"', 'category:"planning"'],
  ['Phase, e.g. plan', 'Phase, e.g. planning'],
];

const VERSION_4: readonly Phrase[] = [
  ['architect, pm, analyst, dev, ux-designer', 'architect, pm, analyst, dev, sm'],
  [
    'developer (Amelia) or UX designer (Sally), to brainstorm (party mode), to create a product brief, PRD, epics or stories, to plan a sprint, for a code review or retrospective,',
    'developer (James), scrum master (Bob), QA (Quinn), product owner (Sarah) or UX expert (Sally), to brainstorm, to create a project brief, PRD, architecture, epics or stories, to shard a document, for a story review,',
  ],
  [
    'workflow (prd, architecture, build, brainstorming, party-mode, …)',
    'workflow or task (greenfield-fullstack, create-next-story, shard-doc, …)',
  ],
  ['workflows (prd, architecture, build, …)', 'workflows and tasks (create-next-story, shard-doc, …)'],
  ['like prd, architecture, brainstorming', 'like greenfield-fullstack, create-next-story, shard-doc'],
  ['(prd, architecture, brainstorming, …)', '(greenfield-fullstack, create-next-story, …)'],
  ['query:"workflows", category:"plan"} shows a phase', 'query:"tasks"} shows the tasks'],
  [
    'short (prd), full (bmad-prd), qualified (bmm/prd), a persona (John) or a menu code (CA)',
    'short (architect), qualified (bmad-core/architect), a persona (Winston) or a command of an agent (*create-prd)',
  ],
  ['workflow:"prd"', 'workflow:"create-next-story"'],
  ['bmm/architect', 'bmad-core/architect'],
  ['*party-mode', '*create-next-story'],
  ['e.g. prd, bmm/prd', 'e.g. create-next-story'],
  ['e.g. prd,', 'e.g. greenfield-fullstack,'],
  ['"prd"', '"create-next-story"'],
  ['e.g. bmm', 'e.g. bmad-core'],
  ['Phase, e.g. plan', 'Phase, e.g. planning'],
];

/** The first alphas whose workflows have a verb in their names. */
const ALPHAS_WITH_VERBS = 20;

/** What to say instead in a project of this version; nothing where the words are those of today. */
export function phrasesOf(version: string): readonly Phrase[] {
  const [, major, minor, alpha] = /^(\d+)\.(\d+)(?:\.\d+-alpha\.(\d+))?/i.exec(version) ?? [];
  if (Number(major) === 4) return VERSION_4;
  if (Number(major) !== 6 || Number(minor) >= 12) return [];
  return Number(alpha ?? ALPHAS_WITH_VERBS) < ALPHAS_WITH_VERBS ? FIRST_ALPHAS : BEFORE_6_12;
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
