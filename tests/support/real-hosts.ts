import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { serverFile } from './app.ts';
import { HOST_PACKAGES } from './host-packages.ts';
import { bareEnvironment, runToEnd, type Ended } from './programs.ts';
import { node22, tool, type Command } from './tools.ts';

/** Where a host runs: an empty home, a project, and the address of the model that it asks. */
export interface HostPlace {
  home: string;
  project: string;
  model: string;
  /** What the model is called, where a host treats some in another way. */
  modelName?: string;
  /** It looks for a command without waiting for its servers, as it does by itself. */
  isImpatient?: true;
}

/** A real host from npm that runs without a person and asks a model of ours. */
export interface RealHost {
  name: string;
  /** Fetches the host and connects it to the built server, as its own documentation says. */
  prepare(place: HostPlace): Promise<void>;
  /** Gives it a message, as typed, and waits until it has no more to say. */
  ask(message: string, place: HostPlace): Promise<Ended>;
  /** Where it can be asked so: what a person types for the prompt of the architect. */
  slash?: (message: string) => string;
}

const NODE = process.execPath;
/** Nothing but what is tested goes over the network. */
const QUIET = { CI: '1', NO_COLOR: '1', DISABLE_TELEMETRY: '1', DO_NOT_TRACK: '1' };

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

const run = (
  [program, ...first]: Command,
  args: readonly string[],
  { home, project }: HostPlace,
  env: Record<string, string>,
): Promise<Ended> =>
  runToEnd(program, [...first, ...args], {
    cwd: project,
    env: unset(bareEnvironment(home, { ...QUIET, ...env })),
  });

/** People who have just installed it have set nothing: hosts pass on what the tests set for themselves. */
const unset = (env: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('BMAD_')));

const claudeProgram = async (): Promise<Command> => [
  NODE,
  join(await tool(...HOST_PACKAGES.claudeCode), 'cli-wrapper.cjs'),
];

const claudeCode: RealHost = {
  name: 'Claude Code',
  async prepare(place) {
    await run(
      await claudeProgram(),
      ['mcp', 'add', '--scope', 'user', 'bmad', '--', NODE, serverFile],
      place,
      {},
    );
  },
  async ask(message, place) {
    return run(await claudeProgram(), ['-p', message, '--allowedTools', 'mcp__bmad__*'], place, {
      ANTHROPIC_BASE_URL: place.model,
      ANTHROPIC_API_KEY: 'sk-none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // All tools at once, not only those that its own search has found.
      ENABLE_TOOL_SEARCH: 'false',
      ...(place.isImpatient === true ? {} : { MCP_CONNECTION_NONBLOCKING: '0' }),
    });
  },
  slash: (message) => `/mcp__bmad__bmad-architect ${message}`,
};

const codex: RealHost = {
  name: 'Codex',
  prepare: ({ home, model, modelName = 'scripted' }) =>
    write(
      join(home, '.codex/config.toml'),
      `model_provider = "scripted"
model = "${modelName}"

[model_providers.scripted]
name = "scripted"
base_url = "${model}/v1"
wire_api = "responses"

[mcp_servers.bmad]
command = ${JSON.stringify(NODE)}
args = [${JSON.stringify(serverFile)}]
`,
    ),
  async ask(message, place) {
    const program = join(await tool(...HOST_PACKAGES.codex), 'bin/codex.js');
    return run([NODE, program], ['exec', '--skip-git-repo-check', '--json', message], place, {
      CODEX_HOME: join(place.home, '.codex'),
    });
  },
};

const geminiCli: RealHost = {
  name: 'Gemini CLI',
  prepare: ({ home }) =>
    write(
      join(home, '.gemini/settings.json'),
      JSON.stringify({
        security: { folderTrust: { enabled: false }, auth: { selectedType: 'gemini-api-key' } },
        mcpServers: { bmad: { command: NODE, args: [serverFile] } },
      }),
    ),
  async ask(message, place) {
    const program = join(await tool(...HOST_PACKAGES.geminiCli), 'bundle/gemini.js');
    return run([await node22(), program], ['-m', 'gemini-2.5-pro', '--yolo', '-p', message], place, {
      GEMINI_API_KEY: 'none',
      GOOGLE_GEMINI_BASE_URL: place.model,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    });
  },
  slash: (message) => `/bmad-architect ${message}`,
};

const opencode: RealHost = {
  name: 'opencode',
  prepare: ({ home, model }) =>
    write(
      join(home, '.config/opencode/opencode.json'),
      JSON.stringify({
        autoupdate: false,
        provider: {
          scripted: {
            npm: '@ai-sdk/openai-compatible',
            name: 'scripted',
            options: { baseURL: `${model}/v1`, apiKey: 'none' },
            models: { scripted: { name: 'scripted', tool_call: true } },
          },
        },
        mcp: { bmad: { type: 'local', command: [NODE, serverFile], enabled: true } },
        permission: 'allow',
      }),
    ),
  async ask(message, place) {
    const folder = await tool(...HOST_PACKAGES.opencode);
    const program = join(folder, '..', `opencode-${process.platform}-${process.arch}`, 'bin/opencode');
    return run([program], ['run', '-m', 'scripted/scripted', message], place, {});
  },
};

export const REAL_HOSTS: readonly RealHost[] = [claudeCode, codex, geminiCli, opencode];
