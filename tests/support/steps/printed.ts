import { OFFERED } from '../../../src/operations/offered.ts';
import { relaxedObject } from './relaxed-json.ts';

/** A step as a text recommends it. */
export interface PrintedStep {
  /** The words that were printed. */
  text: string;
  kind: 'tool' | 'command' | 'request' | 'function' | 'prompt' | 'resource' | 'method';
  /** Tool, operation, function or thing; of a command, its words. */
  name: string;
  args: Record<string, unknown>;
  /** The words of a command. */
  words?: string[];
}

const METHODS = ['skills/list', 'skills/get', 'resources/directory/read'];
const TOOLS = /(?<![\w/"'.-])([a-z][\w-]*(?:\/[a-z]+)*) (?=\{)/g;

/** What a model over MCP is told to do: calls of tools, else what a host can do by itself. */
export function stepsForModels(text: string, agentTools: readonly string[] = []): PrintedStep[] {
  const known = new Set([...Object.keys(OFFERED), ...METHODS, ...agentTools]);
  const found: PrintedStep[] = [];
  for (const match of text.matchAll(TOOLS)) {
    const [whole, name = ''] = match;
    if (!known.has(name)) continue;
    const { value, end } = relaxedObject(text, match.index + whole.length);
    const kind = METHODS.includes(name) ? 'method' : 'tool';
    found.push({ text: text.slice(match.index, end), kind, name, args: value });
  }
  const named = (pattern: RegExp, kind: PrintedStep['kind'], key: string): void => {
    for (const { 0: whole, 1: value = '' } of text.matchAll(pattern))
      found.push({ text: whole, kind, name: value, args: { [key]: value } });
  };
  named(/the (?:tool or the )?prompt of (?:the agent )?([\w/<>-]+)/g, 'prompt', 'name');
  named(/the MCP resource (bmad:\S*[\w}])/g, 'resource', 'uri');
  for (const whole of ['the list of prompts', 'the list of MCP resources', 'skills/list'])
    if (text.includes(whole)) found.push({ text: whole, kind: 'method', name: whole, args: {} });
  for (const line of text.split('\n'))
    if (line.includes('(for a person, in a terminal)')) found.push(...stepsForTerminals(line));
  return found;
}

const COMMANDS = Object.values(OFFERED).flatMap((offer) =>
  offer?.command === undefined ? [] : [offer.command],
);
const WORD = / (?:'((?:[^']|'\\'')*)'|([\w./:@…-]+))/y;

/** Command lines that a text recommends, not those it shows as usage or example; a command reads on as far as its words can be. */
export function stepsForTerminals(text: string): PrintedStep[] {
  const found: PrintedStep[] = [];
  for (const match of text.matchAll(/(?<![\w/.-]|Usage: |Example: )bmad(?= [a-z])/g)) {
    const words: string[] = [];
    WORD.lastIndex = match.index + match[0].length;
    let end = WORD.lastIndex;
    for (let word = WORD.exec(text); word !== null; word = WORD.exec(text)) {
      words.push(word[1]?.replaceAll(String.raw`'\''`, "'") ?? word[2]?.replace(/\.$/, '') ?? '');
      end = WORD.lastIndex;
      if (word[2]?.endsWith('.') === true) break;
    }
    const name = COMMANDS.findLast((command) => `${words.join(' ')} `.startsWith(`${command} `));
    if (name === undefined) continue;
    found.push({ text: text.slice(match.index, end), kind: 'command', name, args: {}, words });
  }
  return found;
}

/** Requests that a text recommends. */
export function stepsForRequests(text: string): PrintedStep[] {
  return [...text.matchAll(/\bPOST \/api\/([\w-]+) (?=\{)/g)].map((match) => {
    const [whole, name = ''] = match;
    const { value, end } = relaxedObject(text, match.index + whole.length);
    return { text: text.slice(match.index, end), kind: 'request', name, args: value };
  });
}

const FUNCTION = /\b([a-z]\w+)\(((?:"(?:[^"\\]|\\.)*"|[^()"\n])*)\)/g;

/** Calls of functions that a text recommends, if they are functions of this object. */
export function stepsForPrograms(text: string, functions: object): PrintedStep[] {
  return [...text.matchAll(FUNCTION)].flatMap(({ 0: whole, 1: name = '', 2: given = '' }) => {
    if (!(name in functions)) return [];
    const { value } = relaxedObject(`{given:[${given}]}`, 0);
    return [{ text: whole, kind: 'function' as const, name, args: value }];
  });
}
