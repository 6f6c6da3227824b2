import { stemmer } from '@orama/stemmers/english';
import { describe, expect, it } from 'vitest';
import { toolsetSizes } from '../../scripts/reference/tools.ts';
import { lengthNorm, rarity, saturated } from '../../src/meaning/words.ts';

// Hosts with many tools show a model only those that its own words find, by BM25 over the list of tools (H-03). So a
// description has to hold the words with which people ask for what the tool does.

/** What people say, and the tools that serve it. */
const WISHES: readonly (readonly [wish: string, ...tools: string[]])[] = [
  ['Winston', 'bmad'],
  ['party mode brainstorming', 'bmad'],
  ['ask product manager', 'bmad'],
  ['brainstorm', 'bmad'],
  ['create a product brief', 'bmad'],
  ['retrospective', 'bmad'],
  ['what should I do next in the project', 'bmad'],
  ['act as the architect and review our caching plan', 'bmad'],
  ['write a PRD', 'bmad'],
  ['implement the next story', 'bmad'],
  ['code review', 'bmad'],
  ['design the user interface with Sally', 'bmad'],
  ['plan the sprint', 'bmad'],
  ['is it done', 'run_completion_contract'],
  ['run the tests and prove that the work is finished', 'run_completion_contract'],
  ['what did we decide about the database', 'recall_structured'],
  ['remember that we use PostgreSQL', 'remember_structured'],
  ['what went wrong before', 'get_failure_museum'],
  ['where is the login function implemented', 'search_codebase'],
  ['which tech stack does the project have', 'get_project_context'],
  ['queue this for a sub-agent', 'spawn_subagent_task'],
  ['get a second opinion from the developer agent', 'delegate_to_agent'],
  ['hand this over to the API team', 'create_delivery_contract'],
  ['what has the dev agent learnt', 'get_agent_memory'],
  ['forget that memory', 'manage_memories'],
  ['show the status of the workflow run', 'get_workflow_status'],
  ['which sessions are open', 'list_sessions'],
  ['resume the run from yesterday', 'manage_project', 'get_workflow_status'],
  ['claim a task', 'manage_project'],
  ['log a decision', 'manage_project', 'remember_structured'],
];
const FIRST = 3;
const ENOUGH = 30;

const STOP = new Set(
  'a about all an and are as at be before by do does for from get has have i in is it of on or our that the this to was we what where which with'.split(
    ' ',
  ),
);

/** Words as search engines take them: lower case, without stop words and without their English endings. */
const wordsOf = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !STOP.has(word)).map(stemmer);

const tools = (await toolsetSizes()).find(({ toolsets }) => toolsets === 'default')?.tools ?? [];
const texts = tools.map(({ name, title = '', description = '', inputSchema }) => ({
  name,
  words: wordsOf(
    [name, title, description, ...Object.keys(inputSchema.properties ?? {})].join(' ').replaceAll('_', ' '),
  ),
}));

/** The tools that a wish finds, best first. */
function found(wish: string): string[] {
  const usual = texts.reduce((sum, { words }) => sum + words.length, 0) / texts.length;
  return texts
    .map(({ name, words }) => {
      const scores = wordsOf(wish).map((word) => {
        const times = words.filter((each) => each === word).length;
        const having = texts.filter((text) => text.words.includes(word)).length;
        return rarity(having, texts.length) * saturated(times, 1.2, lengthNorm(words.length, usual, 0.75));
      });
      return { name, score: scores.reduce((sum, score) => sum + score, 0) };
    })
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score)
    .map(({ name }) => name);
}

describe('the words of people', () => {
  it('are thirty, and none is a tool’s own name', () => {
    expect(WISHES).toHaveLength(30);
    expect(WISHES.filter(([wish]) => tools.some(({ name }) => name === wish))).toEqual([]);
  });

  it('H-03: find the right tool among the first three', () => {
    const missed = WISHES.filter(
      ([wish, ...right]) =>
        !found(wish)
          .slice(0, FIRST)
          .some((name) => right.includes(name)),
    );
    const told = missed.map(
      ([wish, ...right]) => `${wish} → ${found(wish).slice(0, FIRST).join(', ')}, not ${right.join(' or ')}`,
    );
    expect(told.length, told.join('\n')).toBeLessThanOrEqual(WISHES.length - ENOUGH);
  });

  it.each(['what should I do next in the project', 'what should I do next', 'what should be done now'])(
    'N-19: find first the tool that knows the next step: %s',
    (wish) => {
      expect(found(wish)[0]).toBe('bmad');
    },
  );

  it('H-03: find the tool that has all agents and workflows by what they are called', () => {
    for (const wish of [
      'Winston',
      'party mode brainstorming',
      'ask product manager',
      'brainstorm',
      'create a product brief',
      'retrospective',
    ])
      expect([wish, found(wish)[0]]).toEqual([wish, 'bmad']);
  });
});
