import { posix, win32 } from 'node:path';

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
  format: Format;
  /** The key that holds the servers. */
  key: string;
  user?: HostFile;
  project?: HostFile;
  shape: 'standard' | 'typed' | 'zed' | 'opencode' | 'goose';
  more?: Entry;
  /** The command by which the host adds a server itself, before the command line of the server. */
  own?: string;
  /** What is left to do in the host. */
  after?: string;
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
const CODE = '<config>/Code/User';

/** Every host that can be connected, where it reads its servers from, and how it writes them. */
export const HOSTS: readonly Host[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    aliases: ['claude'],
    traces: ['~/.claude', '~/.claude.json'],
    format: 'json',
    key: MCP,
    user: { paths: ['~/.claude.json'] },
    project: { paths: ['.mcp.json'] },
    shape: 'typed',
    own: 'claude mcp add --scope user bmad --',
    after:
      'To allow its tools once and for all, add "mcp__bmad" to permissions.allow in .claude/settings.json.',
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
    format: 'toml',
    key: 'mcp_servers',
    user: { paths: ['$CODEX_HOME|~/.codex/config.toml'] },
    project: { paths: ['.codex/config.toml'] },
    shape: 'standard',
    own: 'codex mcp add bmad --',
    limits: { startMs: 10_000, answerBytes: 10_240, dataAlone: true },
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    aliases: ['gemini'],
    traces: ['~/.gemini/settings.json', '~/.gemini/tmp', '~/.gemini/installation_id'],
    format: 'json',
    key: MCP,
    user: { paths: ['~/.gemini/settings.json'] },
    project: { paths: ['.gemini/settings.json'] },
    shape: 'standard',
    own: 'gemini mcp add --scope user bmad',
    after: 'It starts no server in a folder that you have not trusted: /permissions trust.',
  },
  {
    id: 'antigravity',
    name: 'Antigravity',
    traces: ['~/.gemini/antigravity'],
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
