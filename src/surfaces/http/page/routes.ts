import { basename } from 'node:path';
import { refuseAsProblem } from '../../../base/http/http-refusals.ts';
import type { Exchange, HttpRoute } from '../../../base/http/http-route.ts';
import { VERSION } from '../../../base/product.ts';
import type { Context } from '../../../operations/context.ts';
import { FOR_PEOPLE } from '../../../operations/offers.ts';
import type { Instance } from './instances.ts';
import { cookiesIn, notAPerson, sessionCookie, sessionOf } from './person-gate.ts';
import { csrfOf, type Passes } from './passes.ts';
import { PAGE_HEADERS, pageFiles } from './static-files.ts';

/** A server over stdin and stdout, which a host has started. */
interface StdioServer {
  pid: number;
  client?: string | undefined;
  roots: readonly string[];
  started: string;
}

/** A client of the MCP server over HTTP. */
export interface SeenClient {
  name: string;
  /** When it was heard last. */
  last: number;
}

export interface PageOptions {
  passes: Passes;
  /** What links for this server are made for. */
  places: readonly string[];
  /** The folder with the built page. */
  folder: string;
  /** The projects that calls may name, the one of calls that name none first. */
  projects(): Promise<readonly string[]>;
  /** The servers of the user that are running. */
  instances(): Promise<readonly Instance[]>;
  /** Those over stdin and stdout that hosts have started. */
  stdioServers?(): Promise<readonly StdioServer[]>;
  /** The clients of this server. */
  clients?(): readonly SeenClient[];
  /** The address of this server for browsers. */
  address(): string;
}

const LONGEST_KEY = 100;

/** The page itself, the way in, and who has come in. */
export function createPageRoutes(context: Context, options: PageOptions): HttpRoute[] {
  return [
    {
      path: '/page/enter',
      methods: ['GET', 'HEAD'],
      open: true,
      refuse: refuseAsProblem,
      handle: (exchange) => entered(exchange, options),
    },
    ...pageFiles(options.folder),
    {
      path: '/api/page/session',
      methods: ['GET', 'HEAD'],
      part: 'page',
      refuse: refuseAsProblem,
      handle: (exchange) => described(exchange, context, options),
    },
  ];
}

/** Anyone who has the link comes in, once. What only looks at links, such as a preview, does not use it up. */
async function entered({ request }: Exchange, { passes, places, address }: PageOptions): Promise<Response> {
  const { headers } = request;
  const isLook =
    request.method !== 'GET' || headers.has('sec-purpose') || headers.get('purpose') === 'prefetch';
  const key = new URL(request.url).searchParams.get('key') ?? '';
  const found =
    isLook || key === '' || key.length > LONGEST_KEY
      ? undefined
      : await passes.enter(key, headers.get('user-agent') ?? '', places);
  if (found === undefined)
    return new Response(
      'This link has been used, is too old, or is for another server. Run "bmad page" for a new one.\n',
      {
        status: 403,
        headers: {
          ...PAGE_HEADERS,
          'content-type': 'text/plain; charset=utf-8',
          'cache-control': 'no-store',
        },
      },
    );
  const secure = address().startsWith('https:');
  return new Response(null, {
    status: 303,
    headers: {
      ...PAGE_HEADERS,
      location: '/',
      'cache-control': 'no-store',
      'set-cookie': sessionCookie(found.secret, found.session.until, secure),
    },
  });
}

/** Nobody but a person has a session; what a page needs to know of it and of the server. */
async function described(
  { request, caller }: Exchange,
  context: Context,
  { passes, projects, instances, stdioServers, clients, address }: PageOptions,
): Promise<Response> {
  const found =
    caller.person === true ? await sessionOf(cookiesIn(request.headers.get('cookie')), passes) : undefined;
  if (found === undefined) return notAPerson();
  const { secret, session } = found;
  const [roots, running, started, current] = await Promise.all([
    projects(),
    instances(),
    stdioServers?.() ?? [],
    context.describeProject(),
  ]);
  return Response.json(
    {
      version: VERSION,
      csrf: csrfOf(secret),
      scopes: ['read', ...(context.config.readOnly ? [] : ['write']), 'person'],
      language: languageOf(request.headers.get('accept-language')),
      person: { id: session.id, made: iso(session.made), until: iso(session.until) },
      readOnly: context.config.readOnly,
      forPeople: FOR_PEOPLE,
      project: current.root ?? null,
      projects: roots.map((root) => ({ root, name: basename(root), current: root === current.root })),
      instances: [
        ...running.map(({ origin, kind, roots: served, pid, started: since }) => ({
          origin,
          kind,
          roots: served,
          pid,
          started: since,
          own: origin === address(),
        })),
        ...started.map(({ client, roots: served, pid, started: since }) => ({
          kind: 'stdio',
          ...(client === undefined ? {} : { client }),
          roots: served,
          pid,
          started: since,
        })),
      ],
      clients: (clients?.() ?? []).map(({ name, last }) => ({ name, last: iso(last) })),
    },
    { headers: { 'cache-control': 'no-store' } },
  );
}

const iso = (time: number): string => new Date(time).toISOString();

/** The first of the two that there are words for. */
function languageOf(accepted: string | null): 'en' | 'fr' {
  const wanted = (accepted ?? '').split(',').map((part) => part.trim().slice(0, 2).toLowerCase());
  return wanted.find((language) => language === 'en' || language === 'fr') === 'fr' ? 'fr' : 'en';
}
