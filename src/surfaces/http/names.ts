/** The names of this machine for itself. */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * A page in a browser can reach this machine too, under a name of its own that leads here; it cannot choose the headers
 * Host and Origin. So both have to name this machine.
 */
export function servedUnder(host: string | undefined): boolean {
  const name = nameOf(`http://${host ?? ''}`);
  return name !== undefined && LOOPBACK.has(name);
}

/** Programs send no Origin; `null` is what a page sends that has none it would tell. */
export function ownOrigin(origin: string | undefined): boolean {
  if (origin === undefined) return true;
  const name = /^https?:\/\//.test(origin) ? nameOf(origin) : undefined;
  return name !== undefined && LOOPBACK.has(name);
}

function nameOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { hostname, pathname, username, password, search, hash } = new URL(address);
  const bare = pathname === '/' && username === '' && password === '' && search === '' && hash === '';
  return bare ? hostname : undefined;
}
