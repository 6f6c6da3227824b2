import { BmadError } from '../errors.ts';
import { readState } from '../files/file-state.ts';
import { t } from '../text/message.ts';

/** Where a database is. Its password is in a function, so that no error and no log that shows one of these has it. */
export interface Address {
  /** For people: without the password. */
  shown: string;
  host: string;
  port: number;
  database: string;
  user: string | undefined;
  password: (() => string) | undefined;
  /** What is checked of the server: nothing, that the line is private, who vouches for it, or its name as well. */
  tls: 'off' | 'private' | 'vouched' | 'named';
  /** A file with the authorities that may vouch for it. */
  authorities: string | undefined;
}

const SCHEME = /^postgres(?:ql)?:\/\//i;
const PORT = 5432;
const NO_HOST = 'no-host.invalid';

export const isDatabaseAddress = (text: string): boolean => SCHEME.test(text);

/** An address, or a file whose first line that is not a comment is one: then it is in no list of processes. */
export async function readAddress(given: string): Promise<Address> {
  if (isDatabaseAddress(given)) return addressOf(given);
  const text = await readState(given);
  if (text === undefined)
    throw new BmadError('invalid_input', t`There is no file ${given} with the address of a database.`, {
      subject: 'state',
      hint: t`Set an address such as postgres://user@host/database, or the path of a file that has one.`,
    });
  const line = text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map((each) => each.trim())
    .find((each) => each !== '' && !each.startsWith('#'));
  if (line === undefined || !isDatabaseAddress(line))
    throw new BmadError('invalid_input', t`The file ${given} has no address of a database.`, {
      subject: 'state',
      hint: t`Its first line has to be one, such as postgres://user@host/database.`,
    });
  return addressOf(line);
}

const malformed = (reason: string): BmadError =>
  new BmadError('invalid_input', t`The address of the database is malformed: ${reason}`, {
    subject: 'state',
    hint: t`Write it as postgres://user:password@host:5432/database; encode special characters of the password, such as %40 for @.`,
  });

const MODES: Readonly<Record<string, Address['tls']>> = {
  disable: 'off',
  require: 'private',
  'verify-ca': 'vouched',
  'verify-full': 'named',
};

/** None of its parts is repeated in an error: any of them may be a piece of a password with a slash or an @ in it. */
export function addressOf(text: string): Address {
  // For a socket there is no host, which a URL with a user has to have.
  const named = text.replace(/^(\w+:\/\/[^/?#]*@)(?=[/?#])/, `$1${NO_HOST}`);
  const url = URL.canParse(named) ? new URL(named) : undefined;
  if (url === undefined) throw malformed(t`it is not a URL.`);
  const options = url.searchParams;
  const host =
    options.get('host') ??
    decoded(url.hostname)
      .replace(/^\[|\]$/g, '')
      .replace(NO_HOST, '');
  const database = decoded(url.pathname.slice(1));
  const known = ['host', 'port', 'user', 'password', 'sslmode', 'sslrootcert', 'application_name'];
  const unknown = [...options.keys()].filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw malformed(t`it has options that are not known here; known are ${known.join(', ')}.`);
  if (host === '') throw malformed(t`it has no host.`);
  if (database === '' || database.includes('/')) throw malformed(t`it has no name of a database.`);
  const mode = options.get('sslmode');
  if (mode !== null && !Object.hasOwn(MODES, mode))
    throw malformed(t`sslmode is one of ${Object.keys(MODES).join(', ')}.`);
  const port = Number(options.get('port') ?? (url.port || PORT));
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw malformed(t`its port is not a number.`);
  const password = options.get('password') ?? decoded(url.password);
  const user = options.get('user') ?? decoded(url.username);
  const shownHost = host.startsWith('/') || host.includes(':') ? `[${host}]` : host;
  return {
    shown: `postgres://${user === '' ? '' : `${user}@`}${shownHost}${port === PORT ? '' : `:${port}`}/${database}`,
    host,
    port,
    database,
    user: user === '' ? undefined : user,
    password: password === '' ? undefined : () => password,
    tls: MODES[mode ?? 'disable'] ?? 'off',
    authorities: options.get('sslrootcert') ?? undefined,
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw malformed(t`a % in it begins no character.`);
  }
}
