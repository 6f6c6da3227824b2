import { pathToFileURL } from 'node:url';
import {
  Client,
  type CallToolResult,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type ElicitRequestParams,
  type ElicitResult,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { serverFile } from './app.ts';
import { bareEnvironment } from './programs.ts';

export interface ConnectOptions {
  cwd: string;
  home: string;
  mode?: VersionNegotiationMode;
  /** Folders the client says it works in. */
  roots?: readonly string[];
  /** Answers for the model of the client; without it the client offers none. */
  sample?: (params: CreateMessageRequestParams) => CreateMessageResult | Promise<CreateMessageResult>;
  /** Answers for the person at the client; without it the client asks nobody. */
  elicit?: (params: ElicitRequestParams) => ElicitResult | Promise<ElicitResult>;
  /** Program and arguments, where it is not the server in dist. */
  command?: readonly [string, ...string[]];
  /** Arguments for the server in dist. */
  args?: readonly string[];
  env?: Record<string, string>;
}

/** The official client, connected to a server process of its own. */
export async function connectClient({
  cwd,
  home,
  mode = 'legacy',
  roots,
  sample,
  elicit,
  args: serverArgs = [],
  command = [process.execPath, serverFile, ...serverArgs],
  env = {},
}: ConnectOptions): Promise<Client> {
  const [program, ...args] = command;
  const client = newClient({ mode, roots, sample, elicit });
  await client.connect(
    new StdioClientTransport({
      command: program,
      args,
      cwd,
      env: bareEnvironment(home, env),
      stderr: 'ignore',
    }),
  );
  return client;
}

/** What a host declares that shows apps. */
const APPS = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };

/** The official client, with what it offers to servers. */
export function newClient({
  mode = 'legacy',
  roots,
  sample,
  elicit,
  name = 'test',
  apps,
}: {
  [option in 'mode' | 'roots' | 'sample' | 'elicit']?: ConnectOptions[option] | undefined;
} & { name?: string; apps?: true | undefined }): Client {
  const client = new Client(
    { name, version: '1' },
    {
      versionNegotiation: { mode },
      capabilities: {
        ...(roots === undefined ? {} : { roots: {} }),
        ...(sample === undefined ? {} : { sampling: {} }),
        ...(apps === undefined ? {} : { extensions: APPS }),
        ...(elicit === undefined ? {} : { elicitation: { form: {} } }),
      },
    },
  );
  if (roots !== undefined) {
    const listed = roots.map((folder) => ({ uri: pathToFileURL(folder).href }));
    client.setRequestHandler('roots/list', () => ({ roots: listed }));
  }
  if (sample !== undefined)
    client.setRequestHandler('sampling/createMessage', ({ params }) => sample(params));
  if (elicit !== undefined) client.setRequestHandler('elicitation/create', ({ params }) => elicit(params));
  return client;
}

/** The texts of a tool's answer: the body, then the note. */
export function textsOf(result: CallToolResult): string[] {
  return result.content.map((part) => {
    if (part.type !== 'text') throw new Error(`The answer holds a part of type ${part.type}.`);
    return part.text;
  });
}

/** Calls the tool and follows its cursors; answers with the parts. */
export async function callInParts(client: Client, args: Record<string, unknown>): Promise<string[]> {
  const parts: string[] = [];
  let cursor: string | undefined;
  do {
    const result = await client.callTool({
      name: 'bmad',
      arguments: { ...args, ...(cursor === undefined ? {} : { cursor }) },
    });
    const [body = '', ...notes] = textsOf(result);
    if (result.isError === true) throw new Error(body);
    parts.push(body);
    cursor = /cursor:"([^"]+)"/.exec(notes.join('\n'))?.[1];
  } while (cursor !== undefined);
  return parts;
}
