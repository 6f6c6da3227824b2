import { isIP } from 'node:net';

/** The names of this machine for itself. */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

export interface Names {
  /** The address that is listened on. */
  host: string;
  /** Additional names of this server, such as the name of a proxy. */
  allowed?: readonly string[];
}

/** Whether an address is one of this machine that no other can reach. */
export function isLoopback(host: string): boolean {
  const name = inUrl(host).toLowerCase();
  return name === 'localhost' || name === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Whether it stands for all addresses of the machine. */
export function isEverywhere(host: string): boolean {
  return host === '0.0.0.0' || inUrl(host) === '[::]';
}

/** An address in the form used in a URL; for IPv6, the short form. */
export function inUrl(host: string): string {
  if (isIP(host) !== 6) return host;
  return host.includes('%') ? `[${host}]` : new URL(`http://[${host}]`).hostname;
}

/** One end of a connection, written in the same way wherever it is asked about. */
export function socketPlace(address = '', port = 0): string {
  return `${address.replace(/^::ffff:/, '')} ${port}`;
}

/** The answer to a request that names another host. */
export function notServedUnder(sent: string | undefined): string {
  const name = nameOf(`http://${sent ?? ''}`);
  const help =
    name !== undefined && /^[\w.-]+$/.test(name)
      ? ` The server’s operator can allow the name with --allow-hosts ${name}, or allow_hosts.`
      : '';
  return `The Host header must name this server: its machine, or a name in allow_hosts.${help}`;
}

/**
 * A page in a browser can reach this machine too, through its own host name that resolves to it; but it cannot choose
 * the headers Host and Origin, so both have to name this server. A numeric address cannot be made to resolve elsewhere:
 * if the server listens on all addresses of the machine, any of them is accepted.
 */
export function servedUnder(sent: string | undefined, { host, allowed = [] }: Names): boolean {
  const name = nameOf(`http://${sent ?? ''}`);
  if (name === undefined) return false;
  if (LOOPBACK.has(name) || name === inUrl(host).toLowerCase()) return true;
  if (isEverywhere(host) && isIP(name.replace(/^\[|\]$/g, '')) !== 0) return true;
  return allowed.some((one) => one.toLowerCase() === name);
}

/** Programs send no Origin; `null` is what a page sends that has none it would tell. */
export function ownOrigin(origin: string | undefined, { host, allowed = [] }: Names): boolean {
  if (origin === undefined) return true;
  const name = /^https?:\/\//.test(origin) ? nameOf(origin) : undefined;
  if (name === undefined) return false;
  const own = [inUrl(host).toLowerCase(), ...allowed.map((one) => one.toLowerCase())];
  // Pages of the same machine are as good as programs there; to a server elsewhere they are strangers.
  return own.includes(name) || (isLoopback(host) && LOOPBACK.has(name));
}

function nameOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { hostname, pathname, username, password, search, hash } = new URL(address);
  const bare = pathname === '/' && username === '' && password === '' && search === '' && hash === '';
  return bare ? hostname : undefined;
}
