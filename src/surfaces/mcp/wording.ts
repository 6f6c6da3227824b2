import type { ToolChoice } from '../../operations/toolsets.ts';
import { CLI_PROGRAM, SERVER_KEY } from '../../base/product.ts';
import { OFFERED } from '../../operations/offered.ts';

/** The tool whose actions are operations too. */
const MANAGER = 'manage_project';

/**
 * Answers name what goes with a tool by the name of its operation. A model has to know that these are no tools: they are
 * actions of one, or commands for a person where that one is not offered.
 */
export function actionNote(
  tool: string,
  texts: readonly string[],
  { fixed, of }: ToolChoice,
): string | undefined {
  if (tool === MANAGER) return undefined;
  const named = new Set(texts.flatMap(actionsIn));
  if (named.size === 0) return undefined;
  const manager = fixed.find(({ name }) => name === MANAGER);
  const [first = ''] = named;
  if (manager !== undefined && of(manager).offered)
    return `${[...named].join(', ')}: ${named.size === 1 ? 'an action' : 'actions'} of ${MANAGER}, e.g. {action:"${first}", args:{…}}.`;
  return `${[...named].join(', ')}: only at the command line, e.g. ${CLI_PROGRAM} ${COMMANDS.get(first) ?? first}.`;
}

const COMMANDS = new Map(
  Object.entries(OFFERED).flatMap(([name, offer]) =>
    offer?.behind?.manage_project === undefined ? [] : [[name, offer.command ?? name]],
  ),
);

/** Every answer is looked through: going from one underscore to the next is many times faster than trying each word. */
function actionsIn(text: string): string[] {
  const found: string[] = [];
  for (let at = text.indexOf('_'); at !== -1; at = text.indexOf('_', at + 1)) {
    let start = at;
    while (isWordCode(text.charCodeAt(start - 1))) start -= 1;
    while (isWordCode(text.charCodeAt(at + 1))) at += 1;
    const word = text.slice(start, at + 1);
    // Steps that are written as calls say themselves whose action it is.
    if (COMMANDS.has(word) && text[start - 1] !== '"') found.push(word);
  }
  return found;
}

/** A letter, a digit or an underscore; what is outside of the text is none. */
function isWordCode(code: number): boolean {
  return (
    (code >= 97 && code <= 122) || code === 95 || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)
  );
}

type Arguments = Partial<Record<string, string>>;

/**
 * Answers name the next step as a call of the unified tool. Where that one is not offered, the same step is put as a
 * call of a tool that is, or as what a host can do by itself.
 */
export function inOfferedWords(text: string, { fixed, of }: ToolChoice): string {
  const offered = new Set(fixed.filter((tool) => of(tool).offered).map(({ name }) => name));
  if (offered.has(SERVER_KEY)) return text;
  return text.replace(STEP, (whole) => {
    const args = argumentsOf(whole);
    return args === undefined ? whole : step(args, offered);
  });
}

/** A step as data (`bmad {"operation":"read",…}`), in words (`{operation:"list", query:"agents"}`), and what follows one. */
const STEP =
  /(?:\bbmad )?\{"operation":"\w+"[^{}\n]*(?:\{[\w-]*\}[^{}\n]*)*\}(?:; an agent: with "agent")?|(?<!bmad-resources |bmad )\{operation:"\w+"(?:, ?\w+:"[^"]*")*\}/g;

function argumentsOf(written: string): Arguments | undefined {
  const data = /\{"operation".*\}/.exec(written)?.[0];
  if (data === undefined) {
    const pairs = [...written.matchAll(/(\w+):"([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]);
    const args = Object.fromEntries(pairs) as Arguments;
    // The tool for looking around has operations of its own, which are written the same way.
    return OWN_OPERATIONS.has(args['operation'] ?? '') ? undefined : args;
  }
  try {
    return JSON.parse(data) as Arguments;
  } catch {
    return undefined;
  }
}

const OWN_OPERATIONS = new Set(['modules', 'agents', 'workflows']);

function step(
  { operation, workflow, agent, uri, query, pattern, run_id }: Arguments,
  offered: Set<string>,
): string {
  const resources = offered.has('bmad-resources');
  if (operation === 'execute') {
    if (agent !== undefined) return `the tool or the prompt of the agent ${agent}`;
    if (offered.has('execute_workflow')) return call('execute_workflow', { workflow_name: workflow, run_id });
    if (offered.has('bmad-workflow')) return call('bmad-workflow', { workflow, run_id });
    return `the prompt of the workflow ${workflow ?? ''}`.trim();
  }
  if (operation === 'read')
    return resources
      ? call('bmad-resources', { operation, uri })
      : `the MCP resource ${uri ?? 'of that file'}`;
  if (operation === 'search' && resources) return call('bmad-resources', { operation, query });
  if (operation === 'list' && query === 'resources')
    return resources ? call('bmad-resources', { operation, pattern }) : 'the list of MCP resources';
  if (operation === 'list' && resources && (query === 'agents' || query === 'workflows'))
    return call('bmad-resources', { operation: query });
  return offered.has('list_workflows') ? call('list_workflows', {}) : 'the list of prompts';
}

function call(tool: string, args: Arguments): string {
  const given = Object.entries(args).filter(([, value]) => value !== undefined);
  return `${tool} {${given.map(([key, value]) => `${key}:${JSON.stringify(value)}`).join(', ')}}`;
}
