import { posix, win32 } from 'node:path';
import { SERVER_KEY } from '../base/product.ts';

/** The systems whose paths differ; every other one is treated as Linux. */
export type System = 'linux' | 'darwin' | 'win32';
export type Scope = 'user' | 'project';
export type Format = 'json' | 'yaml' | 'toml';

/** How the server is started; both are absolute, because hosts choose the working folder and often have no PATH. */
export interface Start {
  command: string;
  args: readonly string[];
}

export type Entry = Record<string, unknown>;

/**
 * A path with a base: `~` is the home folder, `<config>` the folder in which the system keeps settings of programs, and
 * `$NAME|…` what a variable says, else what follows.
 */
type PathPattern = string;

interface HostFile {
  /** The paths that the host reads, the one it prefers first. The first that exists is used, otherwise the first. */
  paths: readonly PathPattern[];
  /** Where it differs from system to system. */
  on?: Partial<Record<System, readonly PathPattern[]>>;
  /** What is added to the entry in this file alone. */
  more?: Entry;
}

export interface Host {
  id: string;
  name: string;
  /** Other words for it. */
  aliases?: readonly string[];
  /** Folders or files that are there once the host has been installed. */
  traces: readonly PathPattern[];
  /** The programs that start it: on the PATH they say that it is there, even if it was never started. */
  programs?: readonly string[];
  format: Format;
  /** The key that holds the servers. */
  key: string;
  user?: HostFile;
  project?: HostFile;
  shape: 'standard' | 'typed' | 'zed' | 'opencode' | 'goose';
  more?: Entry;
  /** The command by which the host adds a server itself, before the command line of the server. */
  own?: string;
  /** What is left to do in the host, whatever its settings are. */
  after?: string;
  /** The folders in which it finds commands, where its own list of ours may come too late. */
  commands?: Record<Scope, PathPattern>;
  /** What its entry has where a person has allowed the tool that runs programs, which it refuses where it cannot ask. */
  approval?: Entry;
  limits?: HostLimits;
}

/** What a host puts up with; what is beyond is cut, left out or given up. */
interface HostLimits {
  /** Tools of all servers together. */
  tools?: number;
  /** How long a server may take to start. */
  startMs?: number;
  /** How long an answer may be. */
  answerBytes?: number;
  /** Where an answer has data beside its text, the model sees the data alone. */
  dataAlone?: true;
}

const MCP = 'mcpServers';
/** The tool that runs programs. */
export const CONTRACT_TOOL = 'run_completion_contract';
const CODE = '<config>/Code/User';

/** Every host that can be connected, where it reads its servers from, and how it writes them. */
export const HOSTS: readonly Host[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    aliases: ['claude'],
    traces: ['~/.claude', '~/.claude.json'],
    programs: ['claude'],
    format: 'json',
    key: MCP,
    user: { paths: ['~/.claude.json'] },
    project: { paths: ['.mcp.json'] },
    shape: 'typed',
    own: 'claude mcp add --scope user bmad --',
    limits: { startMs: 30_000, answerBytes: 100_000, dataAlone: true },
  },
  {
    id: 'claude-desktop',
    name: 'Claude Desktop',
    traces: ['<config>/Claude'],
    format: 'json',
    key: MCP,
    user: { paths: ['<config>/Claude/claude_desktop_config.json'] },
    shape: 'standard',
    after: 'Quit it completely and start it again.',
  },
  {
    id: 'cursor',
    name: 'Cursor',
    aliases: ['cursor-agent'],
    traces: ['~/.cursor'],
    programs: ['cursor', 'cursor-agent'],
    format: 'json',
    key: MCP,
    user: { paths: ['~/.cursor/mcp.json'] },
    project: { paths: ['.cursor/mcp.json'] },
    shape: 'standard',
    limits: { tools: 40 },
  },
  {
    id: 'vscode',
    name: 'VS Code',
    aliases: ['code', 'vs-code', 'copilot-chat'],
    traces: [CODE, '~/.vscode'],
    programs: ['code'],
    format: 'json',
    key: 'servers',
    user: { paths: [`${CODE}/mcp.json`] },
    project: { paths: ['.vscode/mcp.json'] },
    shape: 'typed',
    own: 'code --add-mcp',
    limits: { tools: 128 },
  },
  {
    id: 'copilot-cli',
    name: 'Copilot CLI',
    aliases: ['copilot', 'github-copilot-cli'],
    traces: ['$COPILOT_HOME|~/.copilot'],
    programs: ['copilot'],
    format: 'json',
    key: MCP,
    user: { paths: ['$COPILOT_HOME|~/.copilot/mcp-config.json'], more: { tools: ['*'] } },
    project: { paths: ['.mcp.json', '.github/mcp.json'] },
    shape: 'typed',
  },
  {
    id: 'cline',
    name: 'Cline',
    traces: [`${CODE}/globalStorage/saoudrizwan.claude-dev`],
    format: 'json',
    key: MCP,
    user: { paths: [`${CODE}/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json`] },
    shape: 'standard',
    more: { disabled: false },
  },
  {
    id: 'cline-cli',
    name: 'Cline CLI',
    traces: ['$CLINE_DIR|~/.cline'],
    programs: ['cline'],
    format: 'json',
    key: MCP,
    user: { paths: ['$CLINE_DIR|~/.cline/data/settings/cline_mcp_settings.json'] },
    shape: 'standard',
    more: { disabled: false },
  },
  {
    id: 'windsurf',
    name: 'Windsurf',
    traces: ['~/.codeium/windsurf'],
    programs: ['windsurf'],
    format: 'json',
    key: MCP,
    user: { paths: ['~/.codeium/windsurf/mcp_config.json'] },
    shape: 'standard',
    limits: { tools: 100 },
  },
  {
    id: 'zed',
    name: 'Zed',
    traces: ['<config>/zed', '<config>/Zed'],
    programs: ['zed'],
    format: 'json',
    key: 'context_servers',
    user: {
      paths: ['<config>/zed/settings.json'],
      // On a Mac it follows the custom of Linux.
      on: { darwin: ['~/.config/zed/settings.json'], win32: ['<config>/Zed/settings.json'] },
    },
    project: { paths: ['.zed/settings.json'] },
    shape: 'zed',
  },
  {
    id: 'codex',
    name: 'Codex',
    aliases: ['codex-cli', 'openai-codex'],
    traces: ['$CODEX_HOME|~/.codex'],
    programs: ['codex'],
    format: 'toml',
    key: 'mcp_servers',
    user: { paths: ['$CODEX_HOME|~/.codex/config.toml'] },
    project: { paths: ['.codex/config.toml'] },
    shape: 'standard',
    own: 'codex mcp add bmad --',
    approval: { tools: { [CONTRACT_TOOL]: { approval_mode: 'approve' } } },
    limits: { startMs: 10_000, answerBytes: 10_240, dataAlone: true },
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    aliases: ['gemini'],
    traces: ['~/.gemini/settings.json', '~/.gemini/tmp', '~/.gemini/installation_id'],
    programs: ['gemini'],
    format: 'json',
    key: MCP,
    user: { paths: ['~/.gemini/settings.json'] },
    project: { paths: ['.gemini/settings.json'] },
    shape: 'standard',
    own: 'gemini mcp add --scope user bmad',
    commands: { user: `~/.gemini/commands/${SERVER_KEY}`, project: `.gemini/commands/${SERVER_KEY}` },
  },
  {
    id: 'antigravity',
    name: 'Antigravity',
    traces: ['~/.gemini/antigravity'],
    programs: ['antigravity'],
    format: 'json',
    key: MCP,
    user: { paths: ['~/.gemini/antigravity/mcp_config.json'] },
    shape: 'standard',
  },
  {
    id: 'antigravity-cli',
    name: 'Antigravity CLI',
    traces: ['~/.gemini/config'],
    format: 'json',
    key: MCP,
    user: { paths: ['~/.gemini/config/mcp_config.json'] },
    shape: 'standard',
  },
  {
    id: 'opencode',
    name: 'opencode',
    traces: ['~/.config/opencode', '~/.local/share/opencode'],
    programs: ['opencode'],
    format: 'json',
    key: 'mcp',
    user: { paths: ['~/.config/opencode/opencode.jsonc', '~/.config/opencode/opencode.json'] },
    project: {
      paths: ['opencode.jsonc', 'opencode.json', '.opencode/opencode.jsonc', '.opencode/opencode.json'],
    },
    shape: 'opencode',
  },
  {
    id: 'goose',
    name: 'Goose',
    traces: ['~/.config/goose', '<config>/Block/goose'],
    programs: ['goose'],
    format: 'yaml',
    key: 'extensions',
    user: {
      paths: ['<config>/goose/config.yaml'],
      on: {
        darwin: ['~/.config/goose/config.yaml'],
        win32: ['<config>/Block/goose/config/config.yaml'],
      },
    },
    shape: 'goose',
  },
  {
    id: 'kiro',
    name: 'Kiro',
    aliases: ['kiro-cli'],
    traces: ['~/.kiro'],
    programs: ['kiro', 'kiro-cli'],
    format: 'json',
    key: MCP,
    user: { paths: ['~/.kiro/settings/mcp.json'] },
    project: { paths: ['.kiro/settings/mcp.json'] },
    shape: 'standard',
  },
  {
    id: 'junie',
    name: 'Junie',
    traces: ['~/.junie'],
    programs: ['junie'],
    format: 'json',
    key: MCP,
    user: { paths: ['~/.junie/mcp/mcp.json'] },
    project: { paths: ['.junie/mcp/mcp.json'] },
    shape: 'standard',
  },
];

/** What paths depend on. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  platform: NodeJS.Platform;
}

function systemOf(platform: NodeJS.Platform): System {
  return platform === 'darwin' || platform === 'win32' ? platform : 'linux';
}

/** A path of the table on this system. A variable counts only if it is absolute, so that it cannot point into a project. */
export function placeOf(pattern: string, { env, home, platform }: Surroundings): string {
  const path = platform === 'win32' ? win32 : posix;
  const absolute = (name: string): string | undefined => {
    const value = env[name] ?? '';
    return path.isAbsolute(value) ? value : undefined;
  };
  const variable = /^\$([A-Z_]+)\|(~\/[^/]+)(.*)$/.exec(pattern);
  if (variable !== null) {
    const [, name = '', usual = '', rest = ''] = variable;
    const base = absolute(name) ?? path.join(home, usual.slice(2));
    return path.join(base, rest);
  }
  if (pattern.startsWith('~/')) return path.join(home, pattern.slice(2));
  if (!pattern.startsWith('<config>/')) return path.normalize(pattern);
  const folders: Record<System, () => string> = {
    linux: () => absolute('XDG_CONFIG_HOME') ?? path.join(home, '.config'),
    darwin: () => path.join(home, 'Library', 'Application Support'),
    win32: () => absolute('APPDATA') ?? path.join(home, 'AppData', 'Roaming'),
  };
  return path.join(folders[systemOf(platform)](), pattern.slice('<config>/'.length));
}

/** All paths that a host reads in a scope, the one it prefers first; none where it has no such scope. */
export function pathsOf(
  host: Host,
  scope: Scope,
  surroundings: Surroundings,
  root: string | undefined,
): string[] {
  const file: HostFile | undefined = host[scope];
  if (file === undefined || (scope === 'project' && root === undefined)) return [];
  const patterns = file.on?.[systemOf(surroundings.platform)] ?? file.paths;
  const path = surroundings.platform === 'win32' ? win32 : posix;
  return patterns.map((pattern) =>
    scope === 'project' ? path.join(root ?? '', pattern) : placeOf(pattern, surroundings),
  );
}

const ENDINGS: Readonly<Partial<Record<System, readonly string[]>>> = { win32: ['.cmd', '.exe'] };

/** The places where a shell would find the programs of a host. */
export function programPaths({ programs = [] }: Host, { env, platform }: Surroundings): string[] {
  const path = platform === 'win32' ? win32 : posix;
  const folders = (env['PATH'] ?? env['Path'] ?? '')
    .split(path.delimiter)
    .filter((each) => path.isAbsolute(each));
  const names = programs.flatMap((name) => (ENDINGS[systemOf(platform)] ?? ['']).map((end) => name + end));
  return folders.flatMap((folder) => names.map((name) => path.join(folder, name)));
}
