/** Where our table of hosts differs from another one on purpose: what theirs says, what ours says, and why. */
interface Difference {
  theirs: string;
  ours: string;
  why: string;
}

const PLAIN = '{"args":["server.cjs"],"command":"node"}';
const TYPED = '{"args":["server.cjs"],"command":"node","type":"stdio"}';
const NO_TYPE = 'A command says that it is a program: the host takes an entry without a type.';
const WITH_TYPE = 'It is what the host writes itself when it adds a server.';
const TWO_ANTIGRAVITIES =
  'The editor and the command line read files of their own; ours has an entry for each.';
const JSONC =
  'opencode reads both; ours takes the one that is there, and makes the one that may have comments.';

const entry = (theirs: string, ours: string, why: string): Difference => ({ theirs, ours, why });

/** By package, host and what it is about. A new difference fails until it is corrected or written down here. */
export const KNOWN_DIFFERENCES: Readonly<Record<string, Difference>> = {
  ...Object.fromEntries(
    ['linux', 'darwin', 'win32'].flatMap((system) => [
      [
        `add-mcp antigravity: user file on ${system}`,
        entry('~/.gemini/config/mcp_config.json', '~/.gemini/antigravity/mcp_config.json', TWO_ANTIGRAVITIES),
      ],
      [
        `glean opencode: user file on ${system}`,
        entry('~/.config/opencode/opencode.json', '~/.config/opencode/opencode.jsonc', JSONC),
      ],
    ]),
  ),
  ...Object.fromEntries(
    ['claude-code: user', 'claude-code: project', 'vscode: user', 'vscode: project'].map((what) => [
      `add-mcp ${what} entry`,
      entry(PLAIN, TYPED, WITH_TYPE),
    ]),
  ),
  ...Object.fromEntries(
    ['claude-desktop', 'cursor-agent', 'cursor', 'junie'].map((host) => [
      `glean ${host}: names in an entry`,
      entry('args command type', 'args command', NO_TYPE),
    ]),
  ),
  ...Object.fromEntries(
    ['user', 'project'].map((scope) => [
      `add-mcp opencode: ${scope} entry`,
      entry(
        '{"command":["node","server.cjs"],"enabled":true,"environment":{},"type":"local"}',
        '{"command":["node","server.cjs"],"enabled":true,"type":"local"}',
        'An empty environment says nothing.',
      ),
    ]),
  ),
  'add-mcp goose: user entry': entry(
    '{"args":["server.cjs"],"cmd":"node","description":"","enabled":true,"envs":{},"name":"bmad","timeout":300,"type":"stdio"}',
    '{"args":["server.cjs"],"cmd":"node","description":"Agents and workflows of the BMad Method","enabled":true,"envs":{},"name":"bmad","timeout":300,"type":"stdio"}',
    'Goose shows the description to people.',
  ),
  'add-mcp zed: user file on darwin': entry(
    '~/Library/Application Support/Zed/settings.json',
    '~/.config/zed/settings.json',
    'The documentation of Zed names this one for macOS; the other folder holds its data.',
  ),
  'glean goose: user file on win32': entry(
    '~/.config/goose/config.yaml',
    '~/AppData/Roaming/Block/goose/config/config.yaml',
    'The documentation of Goose names this one, and add-mcp has it too.',
  ),
};

/** Hosts that another table has and ours has not, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['fx', 'grok-build', 'kilo-code', 'kimi-code', 'mastracode', 'pi'].map((host) => [
      `add-mcp ${host}`,
      'It was never tried with this server; --print gives an entry to paste.',
    ]),
  ),
  'add-mcp mcporter':
    'It is no host but a command line for calling servers; it reads the files of the hosts.',
  ...Object.fromEntries(
    ['chatgpt', 'claude-teams-enterprise', 'linear'].map((host) => [
      `glean ${host}`,
      'It has no file: servers are added by their address, in its own settings.',
    ]),
  ),
  'glean jetbrains': 'It has no file that others may write: servers are pasted into its settings.',
};
