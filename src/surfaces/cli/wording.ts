import { CLI_PROGRAM } from '../../base/product.ts';
import { operations } from '../../operations/index.ts';

/** The command of each operation that is named in answers by its own name, such as `run_checkpoint`. */
const COMMANDS = new Map(
  operations.flatMap(({ name, command, toolset }) =>
    command === undefined || toolset !== undefined || !name.includes('_') ? [] : [[name, command] as const],
  ),
);
const NAMED = new RegExp(String.raw`\b(?:${[...COMMANDS.keys()].join('|')})\b`, 'g');

/** Answers and hints name the next step as a tool call; in a terminal the same step is a command. */
export function inTerminalWords(text: string): string {
  return text
    .replace(/\{operation:"(\w+)"((?:, ?\w+:"[^"]*")*)\}/g, (_call, operation: string, rest: string) => {
      const args = [...rest.matchAll(/(\w+):"([^"]*)"/g)].map(([, key = '', value = '']) =>
        ['query', 'agent', 'workflow', 'uri'].includes(key) ? quote(value) : `--${key} ${quote(value)}`,
      );
      return [`"${CLI_PROGRAM} ${operation}`, ...args].join(' ') + '"';
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
    .replace(NAMED, (name) => `"${CLI_PROGRAM} ${COMMANDS.get(name) ?? name}"`)
    .replace(/with cursor "([^"]*)"/g, (_call, cursor: string) => `with --cursor ${cursor}`);
}

function quote(value: string): string {
  return /^[\w./:@-]+$/.test(value) ? value : `'${value}'`;
}
