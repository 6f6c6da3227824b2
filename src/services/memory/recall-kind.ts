import { present } from '../../base/present.ts';
import type { Step } from '../../base/step.ts';
import { plural } from '../../base/text/text.ts';
import { sameAgent } from '../../kit/agents.ts';
import { analyse } from '../../meaning/analyse.ts';
import { subjectWords } from '../../meaning/wordings.ts';
import type { MemoryType } from '../../model/memory.ts';
import { browse } from './browse.ts';
import type { OpenMemory } from './opened.ts';
import type { Recall, RecallQuestion } from './recall.ts';
import { between, passes, readyFilter } from './select.ts';

/** What a question calls the memories of a type, without accents. */
const KINDS: readonly (readonly [MemoryType, RegExp, string])[] = [
  ['decisions', /^(?:decid\p{L}*|decisions?|choices?|choix|choisi\p{L}*)$/u, 'decision'],
  [
    'failures',
    /^(?:echou\p{L}*|echecs?|rate(?:e|s|es)?|fail(?:s|ed|ing|ures?)?|mistakes?|wentwrong|malpasse\p{L}*)$/u,
    'failure',
  ],
  [
    'agent-learnings',
    /^(?:appris\p{L}*|apprentissages?|lecons?|learn(?:ed|t|ings?)?|lessons?)$/u,
    'learning',
  ],
];

/** Words that ask, and say nothing about what is asked for. */
const ASKING = new Set(
  'quoi quel quelle quels quelles liste lister montre show list give donne recall rappelle tout toute tous toutes all ever everything deja already jusqu ici far recemment recent recently dernier derniers derniere dernieres last latest new date equipe team why pourquoi raconte remember souviens memoire memory projet project passe happened fait faite done made make pris prise prises jusque present until'.split(
    ' ',
  ),
);

/** A question that asks for a kind of memories and nothing about them: `What did we decide?` */
function kindAsked(query: string): MemoryType | undefined {
  if (query.length > 120) return undefined;
  const plain = query
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/\b(?:went|gone|goes) wrong\b/g, ' wentwrong ')
    .replace(/\bmal (?:s'est |etait |est )?(passe\w*)\b/g, ' mal$1 ');
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? [];
  const found = new Set<MemoryType>();
  for (const word of words) {
    const kind = KINDS.find(([, names]) => names.test(word));
    if (kind !== undefined) found.add(kind[0]);
    else if (!ASKING.has(word) && isTelling(word)) return undefined;
  }
  const [only] = found;
  return found.size === 1 ? only : undefined;
}

/** A word that is more than grammar, and not one of those that many questions have. */
const isTelling = (word: string): boolean =>
  word.length > 2 && analyse(word).length > 0 && subjectWords(`${word} zebra`) !== 'zebra';

/** The newest memories of a kind, for a question that asks for nothing else; nothing for any other question. */
export async function kindRecalled(
  opened: OpenMemory,
  question: RecallQuestion,
): Promise<Recall | undefined> {
  const { query, types, agent, agents = [], tags, since, until, limit } = question;
  if (question.minScore !== undefined || question.alternatives.length > 0 || question.superseded)
    return undefined;
  const kind = kindAsked(query);
  if (kind === undefined || (types.length > 0 && !types.includes(kind))) return undefined;
  const names = agent === undefined ? agents : [agent, ...agents];
  const ready = readyFilter({ tagsAll: tags, ...between(since, until) });
  const bounded = since !== undefined || until !== undefined;
  const { entries, total, ...found } = await browse(opened, kind, names.length === 0 ? undefined : names, {
    takes: ({ entry, dated }) => passes(entry, ready) && (dated || !bounded),
    most: limit,
  });
  if (total === 0) return undefined;
  const word = KINDS.find(([type]) => type === kind)?.[2] ?? kind;
  const more = total - entries.length;
  return {
    hits: entries.map(({ entry, sources, stored }) => ({
      entry,
      score: 1,
      cosine: undefined,
      coverage: 1,
      matched: [],
      sources,
      stored,
    })),
    notes: [
      more === 0
        ? `${plural(total, word)}, newest first: all there ${total === 1 ? 'is' : 'are'}.`
        : `The newest ${entries.length} of ${plural(total, word)}.`,
      ...found.notes,
    ],
    steps: more === 0 ? [] : [everyStep(question, kind, found.stored ? 0 : total, word)],
  };
}

/** As many as one recall gives. */
const MOST = 50;

/** The list of memories has only those of the store: where files of the project have others, a longer recall does. */
function everyStep({ query, agent }: RecallQuestion, type: MemoryType, inFiles: number, word: string): Step {
  const why = `List every ${word}`;
  if (inFiles === 0) return { operation: 'memory_list', args: { type }, why };
  const limit = Math.min(inFiles, MOST);
  return { operation: 'recall_structured', args: present({ query, type, agent, limit }), why };
}

const everyName = async ({ files }: OpenMemory, names: readonly string[]): Promise<string[]> => {
  const known = await files.agents();
  return names.flatMap((name) => sameAgent(known, name));
};

/** Whether some hits are all that there is of the types that were asked for. */
export async function isAll(
  opened: OpenMemory,
  { types, agent, agents = [] }: RecallQuestion,
  hits: number,
): Promise<boolean> {
  if (types.length === 0) return false;
  const names = agent === undefined ? agents : [agent, ...agents];
  // Whether the store alone has more is known at once; to read a type with all its copies takes as long as it has memories.
  const { store } = await opened.session();
  const filter = names.length === 0 ? { types } : { types, agents: await everyName(opened, names) };
  if ((await store.list(filter, { limit: hits + 1 })).entries.length > hits) return false;
  let known = 0;
  for (const type of types)
    known += (await browse(opened, type, names.length === 0 ? undefined : names, { most: 0 })).total;
  return known <= hits;
}
