import { CLI_PROGRAM } from '../../base/product.ts';
import { operations } from '../../operations/index.ts';

/** The operations that answers name by their own names, such as `run_checkpoint`, alone or with arguments. */
const NAMED = new Map(
  operations
    .filter(
      ({ name, command, toolset }) => command !== undefined && toolset === undefined && name.includes('_'),
    )
    .map((operation) => [operation.name, operation]),
);
const CALL = new RegExp(String.raw`\b(${[...NAMED.keys()].join('|')})\b(?: \{([^{}]*)\})?`, 'g');

function asCommand(name: string, written = ''): string {
  const { command = name, positional = [] } = NAMED.get(name) ?? {};
  const args = [...written.matchAll(/(\w+): ?(?:"([^"]*)"|([\w.-]+))/g)].map(
    ([, key = '', text, word = '']) => [key, text ?? word] as const,
  );
  const byPlace = positional.flatMap((key) =>
    args.filter(([given]) => given === key).map(([, value]) => quote(value)),
  );
  const byName = args
    .filter(([key]) => !positional.includes(key))
    .map(([key, value]) => `--${key.replaceAll('_', '-')}${value === 'true' ? '' : ` ${quote(value)}`}`);
  return `"${[CLI_PROGRAM, command, ...byPlace, ...byName].join(' ')}"`;
}

/** A step of the unified tool, such as `{operation:"execute", agent:"dev", message:"…"}`; its values are JSON. */
const STEP = /\{operation:"(\w+)"((?:, ?\w+:"(?:[^"\\\n]|\\.)*")*)\}/g;
const ARGUMENT = /(\w+):("(?:[^"\\\n]|\\.)*")/g;
/** What commands take by position: the thing, then what is wanted of it. */
const PLACES = [['query', 'agent', 'workflow', 'uri'], ['message']];

/** Answers and hints name the next step as a tool call; in a terminal the same step is a command. */
export function inTerminalWords(text: string): string {
  return text
    .replace(STEP, (_call, operation: string, rest: string) => {
      const args = [...rest.matchAll(ARGUMENT)].map(
        ([, key = '', value = '']) => [key, valueOf(value)] as const,
      );
      const byPlace = PLACES.flatMap((names) => args.filter(([key]) => names.includes(key)));
      const byName = args.filter((each) => !byPlace.includes(each));
      return `"${[
        CLI_PROGRAM,
        operation,
        ...byPlace.map(([, value]) => quote(value)),
        ...byName.map(([key, value]) => `--${key.replaceAll('_', '-')} ${quote(value)}`),
      ].join(' ')}"`;
    })
    .replace(/\{command:"([^"]*)"\}/g, (_call, command: string) => `"${CLI_PROGRAM} '${command}'"`)
    .replace(
      /\b(category|pattern):"([^"]*)"/g,
      (_call, key: string, value: string) => `--${key} ${quote(value)}`,
    )
    .replace(
      /manage_memories with action "(\w+)", (?:the id|this id|the old id and the new one)/g,
      (_call, action: string) =>
        `"${CLI_PROGRAM} memory ${action} <id>${action === 'supersede' ? ' <new id>' : ''}"`,
    )
    .replace('recall_structured with the id as query', `"${CLI_PROGRAM} memory get <id>"`)
    .replace(
      'recall_structured and "list" of manage_memories give ids',
      `"${CLI_PROGRAM} memory list" gives ids`,
    )
    .replace('recall_structured gives it', `"${CLI_PROGRAM} memory list" gives it`)
    .replace('the client offers no model to ask (no sampling)', 'a terminal has no model to ask')
    .replace('spawn_subagent_task', `"${CLI_PROGRAM} task add"`)
    .replace(CALL, (_call, name: string, written?: string) => asCommand(name, written))
    .replace(/with cursor "([^"]*)"/g, (_call, cursor: string) => `with --cursor ${cursor}`);
}

/** A value between its quotation marks. Some are written as they are, with backslashes that mean themselves. */
function valueOf(written: string): string {
  try {
    return JSON.parse(written) as string;
  } catch {
    return written.slice(1, -1);
  }
}

function quote(value: string): string {
  return /^[\w./:@-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
