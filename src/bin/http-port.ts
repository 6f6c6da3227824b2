import { t } from '../base/text/message.ts';
import { BmadError, quoted } from '../base/errors.ts';

/** The letters BMAD on the keys of a telephone. */
export const DEFAULT_PORT = 2623;

const LAST_PORT = 65_535;

/** The port to serve HTTP on; nothing, if it was not asked for. */
export function httpPort(asked: boolean, typed: string | undefined): number | undefined {
  if (!asked && typed !== undefined)
    throw new BmadError('invalid_input', t`--port requires --http.`, {
      hint: t`Without --http the server uses stdin and stdout and does not open a port.`,
    });
  if (!asked) return undefined;
  const port = typed === undefined ? DEFAULT_PORT : Number(typed);
  if (typed?.trim() === '' || !Number.isInteger(port) || port < 0 || port > LAST_PORT)
    throw new BmadError('invalid_input', t`--port: ${quoted(typed ?? '')} is not a port.`, {
      hint: t`Use a number up to ${LAST_PORT}; 0 picks a free port. The default is ${DEFAULT_PORT}.`,
    });
  return port;
}
