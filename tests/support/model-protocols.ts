import type { ServerResponse } from 'node:http';

/** A tool as a host offers it to a model. */
export interface OfferedTool {
  /** The name without what a host puts before it. */
  name: string;
  /** The name to call it by, and the group it is in where the protocol has groups. */
  called: string;
  group?: string;
}

export interface ModelCall {
  tool: OfferedTool;
  input: Record<string, unknown>;
  id: string;
}

/** How one kind of model is spoken to: what a request offers, and what an answer to it looks like. */
export interface Protocol {
  handles(path: string): boolean;
  offered(body: Json): OfferedTool[];
  /** Writes a call, or where there is none a last word. */
  answer(body: Json, response: ServerResponse, call: ModelCall | undefined): void;
}

export type Json = Readonly<Record<string, unknown>>;

const LAST_WORD = 'That is all.';
const USAGE = { input_tokens: 10, output_tokens: 5 };

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Hosts put the name of the server before that of a tool. */
function offeredTool(called: string, group?: string): OfferedTool {
  const name = called.replace(/^(?:mcp__bmad__|mcp_bmad_|bmad_)/, '');
  return { name, called, ...(group === undefined ? {} : { group }) };
}

function json(response: ServerResponse, body: unknown): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}

function events(response: ServerResponse, sent: readonly object[], end = ''): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const each of sent)
    response.write(
      `${'type' in each ? `event: ${String(each.type)}\n` : ''}data: ${JSON.stringify(each)}\n\n`,
    );
  response.end(end);
}

/** Anthropic's Messages. */
const messages: Protocol = {
  handles: (path) => path.endsWith('/messages'),
  offered: ({ tools }) => listOf(tools).map(({ name }) => offeredTool(textOf(name))),
  answer({ model, stream }, response, call) {
    const message = { id: 'message', type: 'message', role: 'assistant', model, usage: USAGE };
    if (stream !== true)
      return json(response, {
        ...message,
        content: [{ type: 'text', text: LAST_WORD }],
        stop_reason: 'end_turn',
      });
    const block =
      call === undefined
        ? { type: 'text', text: '' }
        : { type: 'tool_use', id: call.id, name: call.tool.called, input: {} };
    const delta =
      call === undefined
        ? { type: 'text_delta', text: LAST_WORD }
        : { type: 'input_json_delta', partial_json: JSON.stringify(call.input) };
    const stop = { stop_reason: call === undefined ? 'end_turn' : 'tool_use', stop_sequence: null };
    return events(response, [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: stop, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ]);
  },
};

const SEARCH = 'tool_search';

/** OpenAI's Responses, with groups of tools and the search for tools. */
const responses: Protocol = {
  handles: (path) => path.endsWith('/responses'),
  offered({ tools, input }) {
    const found = listOf(input).filter(({ type }) => type === `${SEARCH}_output`);
    return [...listOf(tools), ...found.flatMap((output) => listOf(output['tools']))].flatMap((tool) => {
      if (tool['type'] === SEARCH) return [{ name: SEARCH, called: SEARCH }];
      if (tool['type'] !== 'namespace')
        return tool['name'] === undefined ? [] : [offeredTool(textOf(tool['name']))];
      return listOf(tool['tools']).map(({ name }) => offeredTool(textOf(name), textOf(tool['name'])));
    });
  },
  answer(_body, response, call) {
    const item = responseItem(call);
    const usage = { ...USAGE, total_tokens: 15 };
    const whole = { id: 'response', object: 'response', status: 'completed', output: [item], usage };
    return events(response, [
      { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: whole },
    ]);
  },
};

function responseItem(call: ModelCall | undefined): object {
  if (call === undefined) {
    const content = [{ type: 'output_text', text: LAST_WORD, annotations: [] }];
    return { type: 'message', id: 'message', role: 'assistant', status: 'completed', content };
  }
  const { tool, input, id } = call;
  const common = { id: `item_${id}`, call_id: id, status: 'completed' };
  if (tool.name === SEARCH)
    return { type: `${SEARCH}_call`, ...common, execution: 'client', arguments: input };
  const group = tool.group === undefined ? {} : { namespace: tool.group };
  return { type: 'function_call', ...common, name: tool.called, arguments: JSON.stringify(input), ...group };
}

/** OpenAI's Chat Completions. */
const completions: Protocol = {
  handles: (path) => path.endsWith('/chat/completions'),
  offered: ({ tools }) =>
    listOf(tools).map((tool) => offeredTool(textOf((tool['function'] as Json | undefined)?.['name']))),
  answer({ model, stream }, response, call) {
    const common = { id: 'completion', created: 1, model };
    const said = { role: 'assistant', content: LAST_WORD };
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    if (stream !== true)
      return json(response, {
        ...common,
        object: 'chat.completion',
        choices: [{ index: 0, message: said, finish_reason: 'stop' }],
        usage,
      });
    const chunk = (choices: readonly object[], more: object = {}): object => ({
      ...common,
      object: 'chat.completion.chunk',
      choices,
      ...more,
    });
    const delta =
      call === undefined
        ? said
        : {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                index: 0,
                id: call.id,
                type: 'function',
                function: { name: call.tool.called, arguments: JSON.stringify(call.input) },
              },
            ],
          };
    const reason = call === undefined ? 'stop' : 'tool_calls';
    return events(
      response,
      [
        chunk([{ index: 0, delta, finish_reason: null }]),
        chunk([{ index: 0, delta: {}, finish_reason: reason }]),
        chunk([], { usage }),
      ],
      'data: [DONE]\n\n',
    );
  },
};

/** Google's generateContent. */
const gemini: Protocol = {
  handles: (path) => /generatecontent$/i.test(path),
  offered: ({ tools }) =>
    listOf(tools).flatMap((tool) =>
      listOf(tool['functionDeclarations']).map(({ name }) => offeredTool(textOf(name))),
    ),
  answer({ generationConfig }, response, call) {
    // It asks itself which of its models to take.
    const asData = (generationConfig as Json | undefined)?.['responseMimeType'] === 'application/json';
    const choice = { reasoning: 'x', model_choice: 'flash', complexity_score: 10, complexity_reasoning: 'x' };
    const part =
      call === undefined
        ? { text: asData ? JSON.stringify(choice) : LAST_WORD }
        : { functionCall: { name: call.tool.called, args: call.input } };
    const candidate = { content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 };
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
    const body = { candidates: [candidate], usageMetadata, modelVersion: 'scripted' };
    const streams = /stream/i.test(response.req.url ?? '');
    return streams ? events(response, [body]) : json(response, body);
  },
};

export const PROTOCOLS: readonly Protocol[] = [messages, responses, completions, gemini];
