import { BmadError, ERROR_CODES, type ErrorCode } from '../../src/base/errors.ts';
import { protocolError } from '../../src/surfaces/mcp/errors.ts';
import { code, table } from './markdown.ts';

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
        const { meaning, retry, exit, http } = ERROR_CODES[name];
        const rpc = protocolError(new BmadError(name, '')).code;
        return [code(name), meaning, retry ? 'yes' : 'no', String(exit), String(rpc), String(http)];
      }),
    ),
  ];
}
