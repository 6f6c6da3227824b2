import meanings from '../../assets/api/errors.json' with { type: 'json' };
import { BmadError, ERROR_CODES, type ErrorCode } from '../../src/base/errors.ts';
import { flagUsage } from '../../src/config/flags.ts';
import { PROJECT_CONFIG_FILE, userConfigFile } from '../../src/config/locations.ts';
import { settings } from '../../src/config/schema.ts';
import { AGENT_TOOL_LIMIT } from '../../src/operations/activation/agent-tools.ts';
import { type RuleName, RULES } from '../../src/services/progress/workers.ts';
import { protocolError } from '../../src/surfaces/mcp/requests.ts';
import { QUOTES } from '../../tests/support/rule-quotes.ts';
import { code, propertyOf, shape, table } from './markdown.ts';
import { toolsetSizes } from './tools.ts';

export async function limitsPage(): Promise<string[]> {
  const sizes = (await toolsetSizes()).filter(({ tools }) => tools.length > 0);
  const longest = (texts: readonly string[]): string =>
    String(Math.max(0, ...texts.map((text) => text.length)));
  return [
    '# Host limits',
    '',
    'Hosts cut, refuse or leave out what is too long or too much. A test holds these limits; the numbers are those of',
    'the built-in content.',
    '',
    ...table(
      ['what', 'limit', 'reason'],
      [
        [
          'tool name',
          `${LIMITS.nameLength} characters of ${code('[a-z0-9_-]')}`,
          'hosts put their own prefix before it, and some end at 60 or 64',
        ],
        ['tool description', `${LIMITS.descriptionLength} characters`, 'hosts cut after 2,048'],
        ['tools of agents', String(AGENT_TOOL_LIMIT), 'hosts take 40 to 128 tools of all servers together'],
        ['one answer', `${LIMITS.answerBytes} bytes by default`, 'hosts cut after about 12,000 characters'],
        ['`tools/list` of `bmad`', `${LIMITS.tokens.bmad} tokens`, 'it is in the context of every session'],
        ['`tools/list` of the default', `${LIMITS.tokens.default} tokens`, 'the same'],
      ],
    ),
    '',
    '## What the toolsets cost',
    '',
    'The answer to `tools/list`, as it goes over the wire; a token is four bytes. Only the set `agents` grows with the',
    'content.',
    '',
    ...table(
      ['toolsets', 'tools', 'bytes', 'tokens', 'longest name', 'longest description'],
      sizes.map(({ toolsets, tools, bytes, tokens }) => [
        code(toolsets),
        String(tools.length),
        String(bytes),
        String(tokens),
        longest(tools.map(({ name }) => name)),
        longest(tools.map(({ description = '' }) => description)),
      ]),
    ),
  ];
}

/** What hosts bear; the page and the test take the numbers from here. */
export const LIMITS = {
  name: /^[a-z0-9_-]+$/,
  nameLength: 40,
  descriptionLength: 2_048,
  /** Of all toolsets together, on a BMAD of usual size. */
  toolCount: 100,
  answerBytes: 10_000,
  tokens: { bmad: 700, default: 3_000 },
} as const;

/** The last two parts of a path, which are enough to find it. */
const shortened = (file: string): string => file.split('/').slice(-2).join('/');

/** What comes after what, with the lines of BMAD that state it. */
export function nextRulesPage(): string[] {
  const rows = Object.entries(RULES).map(([name, rule]) => [
    rule.when,
    'ledger' in rule ? code(rule.ledger) : '',
    'work' in rule ? rule.work : '–',
    QUOTES[name as RuleName]
      .map(({ version, file, line }) => `${version} ${code(`${shortened(file)}:${line}`)}`)
      .join(', '),
  ]);
  return [
    '# Rules of the next step',
    '',
    'What comes after what is BMAD’s own decision. Each row names the lines of BMAD’s text that state it, with the version that was',
    'read; other versions of the same form follow the same rule. [The guide](../guide/next-step.md) tells what counts as proof.',
    '',
    ...table(['a file or ledger says', 'the ledger has then', 'what comes next', 'stated by BMAD in'], rows),
  ];
}

export function errorsPage(): string[] {
  const codes = Object.keys(ERROR_CODES) as ErrorCode[];
  return [
    '# Errors',
    '',
    'A tool call that fails has `isError` set. Its text says what went wrong, which names are close to the one',
    'asked for, and what to do next.',
    '',
    'Prompts, resources and completions fail with a JSON-RPC error of the same text, whose `data` holds the',
    '`name` or `uri` and the `suggestions`. A command writes the text to stderr and ends with the exit code. The HTTP API',
    'answers with the HTTP status and a problem document that has the code, the hint and the suggestions.',
    '',
    ...table(
      ['code', 'meaning', 'worth another try', 'exit code', 'JSON-RPC code', 'HTTP status'],
      codes.map((name) => {
        const { retry, exit, http } = ERROR_CODES[name];
        const rpc = protocolError(new BmadError(name, '')).code;
        return [code(name), meanings[name], retry ? 'yes' : 'no', String(exit), String(rpc), String(http)];
      }),
    ),
  ];
}

export function configPage(): string[] {
  return [
    '# Settings',
    '',
    'Layers, the stronger first: flag, environment variable, project file, user file, default.',
    '',
    `- Project file: \`${PROJECT_CONFIG_FILE}\` in the project folder`,
    `- User file: \`${userFile('linux')}\`, or the same under \`$XDG_CONFIG_HOME\` where that is set`,
    `- User file on Windows: \`${userFile('win32')}\``,
    '',
    ...table(
      ['key in a file', 'flag', 'environment', 'type', 'default', 'meaning'],
      settings().map((setting) => [
        code(setting.fileKey),
        code(flagUsage(setting)),
        code(setting.env),
        shape(propertyOf(setting.schema)),
        setting.default === undefined ? 'none' : code(setting.default),
        setting.description,
      ]),
    ),
  ];
}

function userFile(platform: NodeJS.Platform): string {
  // Only an absolute path counts.
  const place = userConfigFile({ env: { APPDATA: '/%APPDATA%' }, home: '~', platform });
  return place.replaceAll('\\', '/').replace(/^\/(?=%)/, '');
}
