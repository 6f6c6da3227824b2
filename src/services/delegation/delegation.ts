import earlier from '../../../assets/agents/earlier.json' with { type: 'json' };
import { agentTitled } from '../../base/text/agent-titles.ts';
import { fold } from '../../base/text/suggest.ts';
import {
  composeBrief,
  type Order,
  type Person,
  persona,
  type AgentTask,
  fullName,
  FURTHER_TASKS,
  type FurtherTask,
  furtherTasks,
  promptText,
  systemPrompt,
  withinTokens,
  workKey,
} from './prompts.ts';
import { cut, oneLine } from '../../base/text/text.ts';
import { estimateTokens } from '../../base/text/text-budget.ts';
import type { Sampled, SampleRequest } from '../../model/client.ts';

export type { ContextPart, Person } from './prompts.ts';

/** Work for an agent of the catalogue, done by a model or written down for one. */
export type Delegation = ReturnType<typeof createDelegation>;

const RECORD_BYTES = 60_000;

export function createDelegation(limits: DelegationLimits) {
  const { depth } = limits;
  return {
    limits,
    /** The agent that an earlier version of BMAD had under a name. */
    earlier: earlierAgent,
    earlierAgents,
    /** Who an agent is, as a text. */
    persona: (person: Person): string => persona(person).text,
    consult: (order: Order, host: DelegationHost) => consult(order, limits, host),
    /** The same work as a text, where no model can be asked. */
    brief: (order: Order, maxBytes: number) => composeBrief({ ...order, depth, maxBytes, isDone: false }),
    /** What was asked, to be kept beside the answer. */
    record: (order: Order): string =>
      composeBrief({ ...order, depth, maxBytes: RECORD_BYTES, isDone: true }).text,
  };
}

interface EarlierAgent {
  id: string;
  /** Its other ids, and roles that are not its title. */
  also?: readonly string[];
  name: string;
  title: string;
  /** The versions of BMAD that had it. */
  from: string;
  role: string;
  style: string;
  principles: readonly string[];
}

/**
 * Agents that BMAD had once and the built-in version has no file of. Projects go on naming them, in requests, memories and
 * tables of their team, so they can be asked: this is what they were for, in short.
 */
const EARLIER: readonly EarlierAgent[] = earlier;

/** The agent that BMAD once had under an id, a persona or a role; nothing for a name it never had. */
function earlierAgent(asked: string): (Person & { from: string }) | undefined {
  const wanted = fold(agentTitled(asked) ?? asked.replace(/^bmad-agent-/i, ''));
  const found = EARLIER.find(({ id, also = [], name, title }) =>
    [id, name, title, ...also].some((each) => fold(each) === wanted),
  );
  if (found === undefined) return undefined;
  const { id: handle, name, title, from, role, style, principles } = found;
  return {
    handle,
    name,
    title,
    from,
    parts: [
      { title: 'Role', text: role },
      { title: 'Communication style', text: style },
      { title: 'Principles', text: principles.map((each) => `- ${each}`).join('\n') },
    ],
    elsewhere: [],
  };
}

/** The ids of all of them, for suggestions. */
const earlierAgents: readonly string[] = EARLIER.map(({ id }) => id);

export interface DelegationLimits {
  /** How many agents may stand one below the other; 1 is the one that was called for. */
  depth: number;
  /** How often the model is asked in one call. */
  rounds: number;
  /** Tokens of one call, questions and answers together. */
  tokens: number;
  /** Tokens of one answer, whatever the caller says. */
  answerTokens: number;
  /** How long one answer may take. */
  timeMs: number;
}

/** What the outside does for a delegation. */
interface DelegationHost {
  sample(request: SampleRequest): Promise<Sampled>;
  /** The agent of a name, or why there is none. */
  find(name: string): Promise<Person | { why: string }>;
  /** The names of all agents there are. */
  agents: readonly string[];
  /** A text without secrets. */
  safe(text: string): string;
  signal: AbortSignal;
}

interface Consulted {
  agent: string;
  depth: number;
  task: string;
  /** Nothing when it has answered; otherwise what came in between. */
  why?: string;
}

export interface Consultation {
  /** The answer of the agent; nothing when there is none. */
  answer?: string;
  /** Why there is none. */
  why?: string;
  /** Every time the model was asked or was not asked, in order. */
  consulted: Consulted[];
  /** How often the model was asked. */
  rounds: number;
  /** Tokens, as far as they can be told from the texts. */
  tokens: number;
  model?: string;
  /** What a reader of the answer has to know. */
  notes: string[];
  leftOut: string[];
}

/** What is said of a name that stands for no agent; the name is a word of the model. */
const NOBODY = 'no agent has this name';
type AgentAnswer = { text: string; why?: undefined } | { text?: undefined; why: string };

const CONTEXT_TOKENS = 12_000;
const CONTEXT_SHARE = 0.25;
/** An answer of less is not worth asking for. */
const LEAST_ANSWER = 64;
/** Clients that do not keep to the limit are cut at this many characters a token, and a token has about four. */
const CHARACTERS_A_TOKEN = 8;

/**
 * Has an agent answer a task through a model, and agents it asks in turn. All counting is done here, from the beginning
 * of the call: a client of the 2026 protocol brings answers back and the same way is gone again, so that nothing a client
 * says about depth or rounds is believed.
 */
export async function consult(
  order: Order,
  limits: DelegationLimits,
  host: DelegationHost,
): Promise<Consultation> {
  const consulted: Consulted[] = [];
  const notes = new Set<string>();
  const leftOut = new Set<string>();
  const results = new Map<string, string>();
  let rounds = 0;
  let tokens = 0;
  let model: string | undefined;
  /** Why nobody is asked any more. */
  let stopped: string | undefined;

  const budget = Math.min(CONTEXT_TOKENS, Math.floor(limits.tokens * CONTEXT_SHARE));
  const given = withinTokens(order.context, budget);
  for (const line of given.leftOut) leftOut.add(line);

  async function ask(person: Person, question: AgentTask, mayDelegate: boolean): Promise<AgentAnswer> {
    if (stopped !== undefined) return { why: stopped };
    const system = systemPrompt(person, mayDelegate ? host.agents : undefined, order.language);
    for (const line of system.leftOut) leftOut.add(line);
    const prompt = promptText(question);
    const asked = estimateTokens(system.text) + estimateTokens(prompt);
    const maxTokens = Math.min(order.maxTokens, limits.tokens - tokens - asked);
    if (rounds >= limits.rounds) stopped = `the model was asked ${rounds} times, the limit of one call`;
    else if (maxTokens < Math.min(LEAST_ANSWER, order.maxTokens))
      stopped = `the limit of ${limits.tokens} tokens for one call leaves too few for the next question`;
    if (stopped !== undefined) return { why: stopped };
    host.signal.throwIfAborted();
    const said = await host.sample({
      system: system.text,
      prompt,
      maxTokens,
      timeMs: limits.timeMs,
      waiting: `Asking ${person.name} (${person.handle}), question ${rounds + 1} of at most ${limits.rounds}`,
      within: { questions: limits.rounds, tokens: limits.tokens - tokens, cost: asked + maxTokens },
    });
    host.signal.throwIfAborted();
    if (said.text !== undefined || said.unasked !== true) {
      rounds += 1;
      tokens += asked;
    }
    if (said.text === undefined) {
      stopped = said.why;
      return { why: stopped };
    }
    // What the client had written is what it cost, also where less of it is used.
    tokens += estimateTokens(said.text);
    const text = limited(host.safe(said.text.trim()), maxTokens, person);
    model ??= said.model;
    if (said.cutShort === true)
      notes.add(`The answer from ${person.handle} stops early: it used up its tokens.`);
    // Another agent, or the same with more to go on, may still have something to say.
    return text === '' ? { why: "the model's answer is empty" } : { text };
  }

  function limited(text: string, maxTokens: number, { handle }: Person): string {
    const most = maxTokens * CHARACTERS_A_TOKEN;
    if (text.length <= most) return text;
    notes.add(
      `The answer from ${handle} had ${text.length} characters and was cut: it exceeded its token limit.`,
    );
    return cut(text, most);
  }

  /** `path` has the work of those above, so that nobody gets back what was asked of it. */
  async function answerOf(person: Person, task: string, path: readonly string[]): Promise<AgentAnswer> {
    const depth = path.length + 1;
    const entry: Consulted = { agent: person.handle, depth, task: oneLine(task, 200) };
    consulted.push(entry);
    const own = [...path, workKey(person.handle, task)];
    const mayDelegate = depth < limits.depth;
    const question = { task, context: given.texts };
    const draft = await ask(person, question, mayDelegate);
    if (draft.text === undefined) {
      entry.why = draft.why;
      return draft;
    }
    const wanted = furtherTasks(draft.text);
    if (wanted.length === 0) return draft;
    if (!mayDelegate) {
      notes.add(`${person.handle} wanted to delegate; the limit of ${limits.depth} levels was reached.`);
      return draft;
    }
    if (wanted.length > FURTHER_TASKS)
      notes.add(`${person.handle} wanted to ask ${wanted.length} other agents; ${FURTHER_TASKS} were asked.`);
    const got: { agent: string; task: string; text: string }[] = [];
    for (const each of wanted.slice(0, FURTHER_TASKS))
      got.push({ ...each, text: await further(each, own, depth + 1) });
    const before = { draft: draft.text, results: got };
    const final = await ask(person, { ...question, before }, false);
    if (final.text === undefined) {
      notes.add(`${person.handle} could not combine the other agents' answers with its own: ${final.why}.`);
      const parts = got.map(({ agent, text }) => `## From ${agent}\n\n${text}`);
      return { text: [draft.text, ...parts].join('\n\n') };
    }
    if (furtherTasks(final.text).length > 0)
      notes.add(`${person.handle} wanted to delegate again; each agent may do so only once.`);
    return final;
  }

  async function further(
    { agent, task }: FurtherTask,
    path: readonly string[],
    depth: number,
  ): Promise<string> {
    const left = (why: string, handle: string): string => {
      consulted.push({ agent: handle, depth, task: oneLine(task, 200), why });
      return `No answer: ${why}.`;
    };
    const found = await host.find(agent);
    if ('why' in found) {
      left(NOBODY, plainName(agent));
      return `No answer: ${found.why}.`;
    }
    const key = workKey(found.handle, task);
    if (path.includes(key)) {
      notes.add(`A loop was stopped: ${found.handle} would have been asked for what it is already doing.`);
      return left('it is already being asked this, a loop', found.handle);
    }
    const known = results.get(key);
    if (known !== undefined) return known;
    const { text, why } = await answerOf(found, task, path);
    if (text === undefined) return `No answer: ${why}.`;
    results.set(key, text);
    return text;
  }

  const answer = await answerOf(order.person, order.task, []);
  if (answer.text === undefined) notes.add(`${fullName(order.person)} did not answer.`);
  return {
    ...(answer.text === undefined ? { why: answer.why } : { answer: answer.text }),
    consulted,
    rounds,
    tokens,
    ...(model === undefined ? {} : { model: plainName(model) }),
    notes: [...notes],
    leftOut: [...leftOut],
  };
}

/** A name that is shown beside what we say ourselves: nothing in it may read as a sentence of ours. */
function plainName(model: string): string {
  return model.replaceAll(/[^\w.:/@+-]+/g, '-').slice(0, 60);
}
