import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { once } from '../../../base/async.ts';
import { readInside } from '../../../base/files/files.ts';
import { branchAt } from '../../../base/files/repository.ts';
import { type Exchange, type HttpRoute, refuseAsProblem } from '../../../base/http/http-route.ts';
import { VERSION } from '../../../base/product.ts';
import { speaking, t } from '../../../base/text/message.ts';
import { present } from '../../../base/values.ts';
import type { Context } from '../../../operations/context.ts';
import { FOR_PEOPLE } from '../../../operations/offers.ts';
import type { Instance } from './instances.ts';
import { csrfOf, type Passes } from './passes.ts';
import { acceptedLanguage, cookiesIn, notAPerson, sessionCookie, sessionOf } from './person-gate.ts';

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

interface PageOptions {
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
const LONGEST_PROJECT = 4_000;

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
  const { searchParams } = new URL(request.url);
  const key = searchParams.get('key') ?? '';
  const found =
    isLook || key === '' || key.length > LONGEST_KEY
      ? undefined
      : await passes.enter(key, headers.get('user-agent') ?? '', places);
  if (found === undefined) return await refusedLink(headers.get('accept-language'));
  const secure = address().startsWith('https:');
  return new Response(null, {
    status: 303,
    headers: {
      ...PAGE_HEADERS,
      location: firstAddress(searchParams.get('project') ?? ''),
      'cache-control': 'no-store',
      'set-cookie': sessionCookie(found.secret, found.session.until, secure),
    },
  });
}

/** The page opens the project that the link was made in; whether the server has it, the page finds out. */
function firstAddress(project: string): string {
  if (project === '' || project.length > LONGEST_PROJECT) return '/';
  return `/#/inbox?${new URLSearchParams({ project }).toString()}`;
}

/** Someone has clicked on a link that is no good; there may still be a session. */
async function refusedLink(accepted: string | null): Promise<Response> {
  const language = acceptedLanguage(accepted);
  const words = language === 'fr' ? (await import('../../../language/french.ts')).FRENCH : undefined;
  const html = speaking(
    words,
    () => `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>BMAD</title><link rel="stylesheet" href="/page/page.css"></head>
<body><main class="bare"><h1>${t`This link does not work any more`}</h1>
<p>${t`It has been used, is too old, or is for another server. This prints a new one:`}</p>
<p><code>bmad page</code></p>
<p><a href="/">${t`If you have come in before, open the page without it.`}</a></p></main></body>
</html>
`,
  );
  return new Response(html, {
    status: 403,
    headers: {
      ...PAGE_HEADERS,
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      vary: 'Accept-Language',
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
      language: acceptedLanguage(request.headers.get('accept-language')),
      person: { id: session.id, made: iso(session.made), until: iso(session.until) },
      readOnly: context.config.readOnly,
      degraded: context.stateTrouble() !== undefined,
      forPeople: FOR_PEOPLE,
      project: current.root ?? null,
      projects: await Promise.all(
        roots.map(async (root) => {
          const branch = await branchAt(root);
          return present({ root, name: basename(root), branch, current: root === current.root });
        }),
      ),
      instances: [
        ...running.map(({ origin, kind, roots: served, pid, started: since }) => ({
          origin,
          kind,
          roots: served,
          pid,
          started: since,
          own: origin === address(),
        })),
        ...started.map(({ client, roots: served, pid, started: since }) =>
          present({ kind: 'stdio', client, roots: served, pid, started: since }),
        ),
      ],
      clients: (clients?.() ?? []).map(({ name, last }) => ({ name, last: iso(last) })),
    },
    { headers: { 'cache-control': 'no-store' } },
  );
}

const iso = (time: number): string => new Date(time).toISOString();

/** Everything there is, by its path: nothing that is asked for becomes the name of a file. */
const FILES: Readonly<Record<string, readonly [file: string, type: string]>> = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/page/page.js': ['page.js', 'text/javascript; charset=utf-8'],
  '/page/page.css': ['page.css', 'text/css; charset=utf-8'],
};
const MOST_BYTES = 4_000_000;

/** Nothing but its own files and its own server; no text ever becomes markup or code. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': PAGE_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

interface Kept {
  plain: Buffer;
  packed: Buffer;
  tag: string;
}

/** The files of the page. They say nothing about the project, so anyone may have them. */
function pageFiles(folder: string): HttpRoute[] {
  const kept = new Map(
    Object.values(FILES).map(([file]) => [file, once(async () => read(folder, file))] as const),
  );
  const route = (path: string): HttpRoute => ({
    path,
    methods: ['GET', 'HEAD'],
    open: true,
    refuse: refuseAsProblem,
    async handle({ request, path: asked }) {
      const [file, type] = FILES[asked] ?? [];
      const found =
        file === undefined
          ? undefined
          : await kept
              .get(file)?.()
              .catch(() => undefined);
      if (found === undefined || type === undefined)
        return refuseAsProblem(
          404,
          asked === '/' ? 'The page is not part of this build.' : 'There is no such file.',
        );
      const { plain, packed, tag } = found;
      const headers = {
        ...PAGE_HEADERS,
        'content-type': type,
        etag: tag,
        // The names stay the same from one version to the next.
        'cache-control': 'no-cache',
        vary: 'Accept-Encoding',
      };
      const known = request.headers.get('if-none-match')?.split(',') ?? [];
      if (known.some((each) => each.trim().replace(/^W\//, '') === tag))
        return new Response(null, { status: 304, headers });
      const isPacked = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/i.test(
        request.headers.get('accept-encoding') ?? '',
      );
      const body = isPacked ? packed : plain;
      return new Response(request.method === 'HEAD' ? null : new Uint8Array(body), {
        headers: {
          ...headers,
          'content-length': String(body.length),
          ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
        },
      });
    },
  });
  return [route('/'), route('/page/*')];
}

async function read(folder: string, file: string): Promise<Kept> {
  const plain = await readInside(folder, file, MOST_BYTES);
  const packed = await promisify(gzip)(plain, { level: 9 });
  const tag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  return { plain, packed, tag };
}
