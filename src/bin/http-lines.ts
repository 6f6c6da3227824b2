import { hostname, networkInterfaces } from 'node:os';
import { PRODUCT, VERSION } from '../base/product.ts';
import { inUrl, isEverywhere, isLoopback } from '../surfaces/http/names.ts';
import type { ServedProjects } from '../app/served-projects.ts';

/** What the machine is called by others, the name and its short form; nothing where no others come. */
export function machineNames(host: string): string[] {
  if (isLoopback(host)) return [];
  const name = hostname();
  return /^[\w.-]+$/.test(name) ? [...new Set([name, name.split('.', 1)[0] ?? name])] : [];
}

export interface Where {
  /** As it is listened on, such as `http://0.0.0.0:2623`. */
  origin: string;
  path: string;
  host: string;
  publicUrl?: string | undefined;
}

/** What is said at the start, a line each; programs look for the address in the first. */
export function startLines(
  { origin, path, host, publicUrl }: Where,
  whom: string,
  { own, allowed }: ServedProjects,
  note?: string,
): string {
  const { port } = new URL(origin);
  const outer = isEverywhere(host) ? [...machineNames(host).slice(0, 1), ...firstAddress()] : [];
  const reached =
    publicUrl === undefined
      ? outer.map((name) => `http://${inUrl(name)}:${port}${path}`)
      : [`${publicUrl.replace(/\/+$/, '')}${path}`];
  return [
    `${PRODUCT} ${VERSION} serves ${origin}${path} to ${whom}. Press Ctrl+C to stop.`,
    ...(reached.length === 0 ? [] : [`Clients can reach it at ${reached.join(' and ')}`]),
    own.root === undefined
      ? `Project: none (${own.from}); set one with --project`
      : `Project: ${own.root} (${own.from})`,
    ...(allowed.length === 0 ? [] : [`Also allowed: ${allowed.join(', ')}`]),
    ...(note === undefined ? [] : [note]),
    '',
  ].join('\n');
}

/** The first address that other machines may know. */
function firstAddress(): string[] {
  const outer = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal }) => !internal);
  const first = outer.find(({ family }) => family === 'IPv4') ?? outer[0];
  return first === undefined ? [] : [first.address];
}
