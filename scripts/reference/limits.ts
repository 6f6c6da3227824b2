import { AGENT_TOOL_LIMIT } from '../../src/operations/activation/agent-tools.ts';
import { LIMITS } from './host-limits.ts';
import { code, table } from './markdown.ts';
import { toolsetSizes } from './toolset-sizes.ts';

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
