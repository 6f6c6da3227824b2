import { bullets, byteLength } from '../../base/text/text.ts';
import { estimateTokens } from '../../base/text/token-estimate.ts';
import { beginning, withinTokens } from './budget.ts';
import type { Order } from './consult.ts';
import { CIRCUMSTANCES, contextText, fullName, inLanguage, persona } from './prompts.ts';

interface BriefOrder extends Order {
  /** How many levels there may be in all; this is the first. */
  depth: number;
  /** How large the text may be. */
  maxBytes: number;
  /** It is kept beside an answer, and nobody is told to do it. */
  isDone: boolean;
}

/** The least a brief can do with: names and the words around them. */
const LEAST_TOKENS = 40;
const TO_DO =
  'Nothing has been executed. Hand this whole brief to one of your sub-agents and take its last message as the answer; if you have none, play this agent yourself for this one task, answer, then resume your own role. Say which of the two you did.';
/** What has no budget of its own: headings, and how to answer. */
const FRAME_TOKENS = 350;
const PERSONA_SHARE = 0.5;
const TASK_SHARE = 0.6;

/**
 * The work as a text, for a model that does it itself or hands it on. It stands for an answer that could not be had, so
 * it says first that nothing has been done.
 */
export function composeBrief(order: BriefOrder): { text: string; leftOut: string[] } {
  const { person, maxBytes } = order;
  const all = [person.parts.map(({ text }) => text), order.task, order.context.map(({ text }) => text)]
    .flat(2)
    .join('\n');
  // Bytes are what is limited; how many make a token depends on the language.
  const bytesPerToken = Math.max(2.5, byteLength(all) / Math.max(1, estimateTokens(all)));
  let tokens = Math.floor(maxBytes / bytesPerToken) - FRAME_TOKENS;
  for (;;) {
    const made = briefWithin(order, tokens);
    if (byteLength(made.text) <= maxBytes || tokens <= LEAST_TOKENS) return made;
    tokens = Math.floor(tokens * 0.85);
  }
}

function briefWithin(order: BriefOrder, tokens: number): { text: string; leftOut: string[] } {
  const { person, context, maxTokens, depth, isDone } = order;
  const room = Math.max(LEAST_TOKENS, tokens);
  const task = beginning(order.task.trim(), Math.floor(room * TASK_SHARE));
  // Without the task nobody can do anything; a definition can also be looked up.
  const left = room - estimateTokens(task);
  const who = persona(person, Math.floor(Math.min(room * PERSONA_SHARE, left)));
  const used = estimateTokens(who.text) + estimateTokens(task);
  const given = withinTokens(context, Math.max(0, room - used));
  const leftOut = [
    ...who.leftOut,
    ...(task.length < order.task.trim().length ? ['the end of the task, which you already have'] : []),
    ...given.leftOut,
  ];
  const parts = [
    `# Brief for ${fullName(person)} (${person.handle})`,
    ...(isDone ? [] : [TO_DO, depthText(depth)]),
    `# Task\n\n${task}`,
    `# Who you are\n\n${who.text}`,
    `# How to answer\n\n${bullets([...CIRCUMSTANCES.slice(2), ...inLanguage(order.language)])}\n- One self-contained answer of at most about ${maxTokens} tokens: no greeting, no menu.\n- Claim to have read, run or checked only what you really did.`,
    ...contextText(given.texts),
    ...(leftOut.length === 0 ? [] : [`# Left out\n\n${bullets(leftOut)}`]),
  ];
  return { text: parts.join('\n\n'), leftOut };
}

/** Where the server does not run the work itself, it can only say how deep it may go. */
function depthText(depth: number): string {
  return depth <= 1
    ? 'Depth: the agent doing this must not delegate any part of it.'
    : `Depth: this is level 1 of at most ${depth}. The agent doing this may delegate parts of it, down to level ${depth}; agents at that level must not delegate.`;
}
