import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { BmadError, ours } from '../../base/errors.ts';
import { SERVER_KEY } from '../../base/product.ts';
import { stepLines } from '../../base/step.ts';
import type { Call, Context } from '../../operations/context.ts';
import type { CallOutcome } from '../../operations/execute.ts';
import { tellOfRefusal } from '../../operations/observed.ts';
import {
  mayBeOffered,
  APP_DATA,
  APP_TOOLS,
  switchedOff,
  type ToolDeclaration,
} from '../../operations/toolsets.ts';
import type { agentOperation } from '../../operations/activation/agent-tools.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import { ask, operationsOnDemand, stepWriter, withoutRepeats } from './steps.ts';
import { dataOf, protocolError } from './requests.ts';
import { waysOf } from './host-ways.ts';
import { advertisedSchema, type AdvertisedSchema } from './schema.ts';
import { TOOL_SCHEMAS } from './tool-schemas.prepared.ts';

type AgentTool = Parameters<typeof agentOperation>[0];

const UNKNOWN_TOOL = '(unknown tool)';
const AGENT_LISTER = 'bmad-resources';

/** The tools in a fixed order. Only those of agents depend on the content, which is not read for any other. */
export async function toolList(context: Context, call: Call, apps = false): Promise<Tool[]> {
  const plain = await plainList(context, call);
  const tools = apps ? [...plain, ...(await offeredApps(context))] : plain;
  if (waysOf(call.host).readsSearchHints !== true) return tools;
  const { withSearchHints } = await import('./tool-extras.ts');
  return withSearchHints(tools);
}

async function offeredApps({ tools }: Context): Promise<Tool[]> {
  const { appTools } = await import('./tool-extras.ts');
  const offered = new Set(APP_TOOLS.filter((tool) => tools.of(tool).offered).map(({ name }) => name));
  return appTools(
    (name) => offered.has(name),
    (name) => name === APP_DATA,
  );
}

async function plainList(context: Context, call: Call): Promise<Tool[]> {
  const { tools } = context;
  const fixed = tools.fixed
    .filter((operation) => tools.of(operation).offered && mayBeOffered(operation, context, call))
    .map((tool) => fixedTool(tool, context));
  if (!tools.agents) return withOutputs(fixed, context);
  const outcome = await ask('list_agent_tools', {}, context, call);
  if (!outcome.ok) {
    // The other tools still work, and a call says what is wrong.
    context.log.warn('cannot list the agent tools', { error: outcome.error.message });
    return withOutputs(fixed, context);
  }
  const { items, leftOut } = outcome.data as { items: AgentTool[]; leftOut: number };
  const told = leftOut === 0 ? fixed : fixed.map((tool) => withRest(tool, items.length, leftOut));
  if (leftOut > 0) context.log.warn(`${leftOut} agents have no tool because hosts limit the number of tools`);
  const { loadAgentTools } = await operationsOnDemand();
  const { agentOperation, messageFor } = await loadAgentTools();
  const [first] = items;
  if (first === undefined) return withOutputs(told, context);
  const one = agentOperation(first);
  const schema = advertisedSchema(one);
  const ofAgents = items.map((tool) => toolOf({ ...one, ...tool }, withMessage(schema, messageFor(tool))));
  return withOutputs([...told, ...ofAgents], context, one);
}

/** The schema of one agent's tool, for another: to make each from its declaration took longer than to read all agents. */
function withMessage(schema: AdvertisedSchema, description: string): AdvertisedSchema {
  const { message, ...others } = schema['properties'] as Record<string, Property>;
  return { ...schema, properties: { message: { ...message, description }, ...others } };
}

/** The tools with the schemas of their answers, for clients that want data. */
async function withOutputs(
  tools: Tool[],
  { config, tools: { fixed } }: Context,
  /** Any agent's: all of them answer alike. */
  ofAgent?: AnyOperation,
): Promise<Tool[]> {
  if (config.output !== 'structured') return tools;
  const { outputSchemaOf } = await import('./tool-extras.ts');
  const { loadOperation } = await operationsOnDemand();
  return Promise.all(
    tools.map(async (tool) => {
      const isOwn = fixed.some(({ name }) => name === tool.name);
      const operation = isOwn || ofAgent === undefined ? await loadOperation(tool.name) : ofAgent;
      return { ...tool, outputSchema: outputSchemaOf(operation) };
    }),
  );
}

/** The number of tools is limited by hosts; the tool that lists all agents says so. */
function withRest(tool: Tool, shown: number, leftOut: number): Tool {
  if (tool.name !== AGENT_LISTER) return tool;
  const note = `${shown} of ${shown + leftOut} agents have their own tool; "agents" lists all.`;
  return { ...tool, description: `${tool.description ?? ''} ${note}` };
}

function fixedTool(tool: ToolDeclaration, { tools: { withheld }, worded }: Context): Tool {
  const schema = TOOL_SCHEMAS[tool.name] ?? { type: 'object' };
  const description = worded(withheld.words.reduce(withoutSaying, tool.description));
  return toolOf({ ...tool, description }, withWords(withheld.words.reduce(withoutWord, schema), worded));
}

/** A schema whose examples are those of the project's BMAD. */
function withWords(schema: AdvertisedSchema, worded: (text: string) => string): AdvertisedSchema {
  const properties = schema['properties'] as Record<string, Property> | undefined;
  if (properties === undefined) return schema;
  const inWords = (property: Property): Property =>
    property.description === undefined
      ? property
      : { ...property, description: worded(property.description) };
  return {
    ...schema,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, inWords(property)]),
    ),
  };
}

/** A schema without one of the operations of a tool, and without what is said of it. */
function withoutWord(schema: AdvertisedSchema, word: string): AdvertisedSchema {
  const { operation, ...others } = (schema['properties'] ?? {}) as Record<string, Property>;
  if (operation?.enum?.includes(word) !== true) return schema;
  const rest = Object.entries(others).flatMap(([name, property]): [string, Property][] => {
    const { description } = property;
    const left = description === undefined ? undefined : withoutSaying(description, word);
    if (left === description) return [[name, property]];
    return left === '' ? [] : [[name, { ...property, ...(left === undefined ? {} : { description: left }) }]];
  });
  return {
    ...schema,
    properties: {
      operation: { ...operation, enum: operation.enum.filter((each) => each !== word) },
      ...Object.fromEntries(rest),
    },
  };
}

/** A description without what it says of one operation: `search: words`, up to the end of the sentence. */
function withoutSaying(text: string, word: string): string {
  const from = ` ${text}`.indexOf(` ${word}: `);
  if (from < 0) return text;
  const length = text.slice(from).search(/[.…]/);
  return (text.slice(0, from) + (length < 0 ? '' : text.slice(from + length + 1))).trim();
}

interface Property {
  enum?: string[];
  description?: string;
}

/** Every hint is given: hosts ask a person, or refuse, where one is left to its default (H-04). */
const ANNOTATIONS: Record<AnyOperation['effect'], NonNullable<Tool['annotations']>> = {
  read: { readOnlyHint: true, openWorldHint: false },
  write: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  destroy: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
};

/** Programs of a project may delete what they like and reach what they like. */
const RUNS_PROGRAMS = { readOnlyHint: false, destructiveHint: true, openWorldHint: true };

function annotationsOf({ effect, runsPrograms }: ToolDeclaration): NonNullable<Tool['annotations']> {
  return runsPrograms === true ? RUNS_PROGRAMS : ANNOTATIONS[effect];
}

function toolOf(operation: ToolDeclaration, inputSchema: AdvertisedSchema): Tool {
  return {
    name: operation.name,
    title: operation.title,
    description: operation.description,
    inputSchema,
    annotations: annotationsOf(operation),
    // Hosts with a tool search show only names at first; this one is the entry to everything.
    ...(operation.name === SERVER_KEY ? { _meta: { 'anthropic/alwaysLoad': true } } : {}),
  };
}

const ASKED_FOR =
  'This is the BMad Method agent or workflow that your call has asked for. If the user wanted it, the user explicitly requests that you follow it, and it is more than data to read.';

export async function callTool(
  name: string,
  args: unknown,
  context: Context,
  call: Call,
): Promise<CallToolResult> {
  const operation = await toolNamed(name, context, call).catch(ours((error) => error));
  const write = await stepWriter(context);
  const { execute } = await operationsOnDemand();
  const outcome: CallOutcome =
    operation instanceof BmadError
      ? { ok: false, error: operation }
      : await execute(operation, args, context, { ...call, say: write });
  const isExact = outcome.ok && outcome.answer.exact === true;
  const answer = (...texts: string[]): CallToolResult => ({
    content: (isExact ? texts : withoutRepeats(texts)).map((text) => ({
      type: 'text',
      text,
    })),
  });
  if (!outcome.ok) return { ...answer(outcome.error.textWith(write)), isError: true };
  if (name === APP_DATA) return answer(JSON.stringify(outcome.data));
  const { note = '', steps = [], instructs } = outcome.answer;
  const isWrapped = instructs === true && waysOf(call.host).wrapsAnswers === true;
  const body = isWrapped ? `${ASKED_FOR}\n\n${outcome.answer.body}` : outcome.answer.body;
  const notes = [note, stepLines(steps, write).join('\n')].filter(Boolean);
  if (context.config.output !== 'structured') return answer(body, ...notes);
  const { structuredAnswer } = await import('./tool-extras.ts');
  return {
    ...answer(body, ...notes),
    structuredContent: structuredAnswer(outcome.data, body, ...notes),
  };
}

/** The operation behind a tool. One that is switched off is as little callable as one that does not exist. */
async function toolNamed(name: string, context: Context, call: Call): Promise<AnyOperation> {
  const { tools } = context;
  const { loadOperation, loadAgentTools } = await operationsOnDemand();
  const named = ({ name: known }: { name: string }): boolean => known === name;
  const fixed = tools.fixed.find(named) ?? APP_TOOLS.find(named);
  if (fixed !== undefined) {
    const { offered, why } = tools.of(fixed);
    if (offered) return loadOperation(name);
    const error = switchedOff(name, fixed.toolset ?? '', why);
    await tellOfRefusal(context, name, call, undefined, error.code);
    throw protocolError(error);
  }
  // Looking up the tool is part of the call. Unknown names are counted as one: callers could make up any number.
  const found = await ask('find_agent_tool', { name }, { ...context, observe: undefined }, call);
  if (!found.ok) await tellOfRefusal(context, UNKNOWN_TOOL, call, undefined, found.error.code);
  return (await loadAgentTools()).agentOperation(dataOf<AgentTool>(found));
}
