import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createContext, type Outside } from '../app/app.ts';
import { BmadError, ours, quoted } from '../base/errors.ts';
import { readState, writeAtomic, writeNew } from '../base/files/file-state.ts';
import { realFolder } from '../base/files/files.ts';
import { programsBesides } from '../base/files/find-program.ts';
import { createTurns } from '../base/http/turns.ts';
import { jsonIn } from '../base/parse/json.ts';
import { startProgram } from '../base/process/start-program.ts';
import { CLI_PROGRAM, PRODUCT, VERSION } from '../base/product.ts';
import { Kept, plural, say, speaking, t } from '../base/text/message.ts';
import { byteLength, kilobytes, withoutEnd } from '../base/text/text.ts';
import { present } from '../base/values.ts';
import { parseFlags } from '../config/flags.ts';
import { userStateFolder } from '../config/locations.ts';
import type { Context } from '../operations/context.ts';
import { execute } from '../operations/execute.ts';
import { inbox } from '../operations/inbox/inbox.ts';
import type { Operation } from '../operations/operation.ts';
import { next } from '../operations/project/next.ts';
import { createApiRoutes } from '../surfaces/http/api/route.ts';
import { type FrontDoor, openFrontDoor } from '../surfaces/http/front-door.ts';
import { createHealthRoutes } from '../surfaces/http/health.ts';
import { isLoopback } from '../surfaces/http/names.ts';
import { pageAsFile } from '../surfaces/http/page/as-file.ts';
import { type Instance, openInstances } from '../surfaces/http/page/instances.ts';
import { openPasses } from '../surfaces/http/page/passes.ts';
import { peopleOnly } from '../surfaces/http/page/person-gate.ts';
import { fail, hearSignals, httpPort, outside, wordsFor } from './outside.ts';
import { pageParts } from './page-server.ts';
import { printer } from './printer.ts';
import { showHelp } from './start-screen.ts';
import { programArguments } from './program-place.ts';
import { stdioServers } from './stdio-servers.ts';
import * as z from 'zod';

/** Who opens the page may read another language than the person who has started it. */
const AMONG_OTHERS = true;

const SWITCHES = ['help', 'open', 'list', 'force'] as const;
const VALUES = ['port', 'at', 'revoke', 'export'] as const;

/** What is printed, in the language of the person. */
interface Said {
  out(text: string): void;
  err(text: string): void;
}

/** `bmad page`: the way in for people, and the server for it if none is running. */
export async function servePage(): Promise<void> {
  const { settings, switches, values } = parseFlags(programArguments().slice(1), SWITCHES, VALUES);
  const words = await wordsFor(settings);
  await speaking(
    words,
    async () => {
      try {
        await servedPage({ settings, switches, values }, printer);
      } catch (error) {
        fail(error, CLI_PROGRAM);
      }
    },
    AMONG_OTHERS,
  );
}

type Typed = ReturnType<typeof parseFlags<(typeof SWITCHES)[number], (typeof VALUES)[number]>>;

async function servedPage({ settings, switches, values }: Typed, said: Said): Promise<void> {
  if (switches.has('help')) return showHelp(pageHelp());
  const typed = outside(settings);
  const state = userStateFolder(typed);
  const surroundings = { ...typed, knownProjects: () => otherProjects(state) };
  if (switches.has('list')) return said.out(await listed(state));
  if (values.revoke !== undefined) return said.out(await revoked(state, values.revoke));
  if (values.at !== undefined) return printer.out(await linkAt(addressOf(values.at), state));
  const context = await createContext(surroundings);
  if (values.export !== undefined)
    return said.out(
      await exportPage(context, { file: values.export, cwd: surroundings.cwd, force: switches.has('force') }),
    );
  const { root } = await context.describeProject();
  if (root !== undefined) await pageProjects(state).note(root);
  const { proven, strangers } = await openInstances(state).answering();
  for (const { origin } of strangers) said.err(strangerLine(origin));
  const open = switches.has('open')
    ? (link: string) => openInBrowser(link, state, surroundings, root === undefined ? [] : [root])
    : undefined;
  const found = serverFor(root, proven);
  if (found !== undefined) {
    context.close();
    said.err(t`The page is served already, by process ${found.pid}.\n`);
    return told({ ...found, project: root }, state, open, said);
  }
  const port = httpPort(true, values.port ?? String(PAGE_PORT)) ?? PAGE_PORT;
  const serving = await served(context, surroundings, port, values.port !== undefined);
  await told({ ...serving, project: root }, state, open, said);
  said.err(t`The page is served until Ctrl+C.\n`);
  await serving.ended;
}

/** One that is for the page alone has all projects; any other only its own. */
function serverFor(root: string | undefined, running: readonly Instance[]): Instance | undefined {
  const withPage = running.filter(({ page }) => page);
  return (
    withPage.find(({ kind }) => kind === 'page') ??
    withPage.find(({ roots }) => root !== undefined && roots.includes(root))
  );
}

/** People only, on this machine only: for everything else there is "bmad serve". */
async function served(
  context: Context,
  surroundings: Outside,
  port: number,
  isChosen: boolean,
): Promise<FrontDoor & { id: string }> {
  const { config, log } = context;
  const state = userStateFolder(surroundings);
  let address = '';
  const page = pageParts(context, {
    outside: surroundings,
    isOn: true,
    kind: 'page',
    own: true,
    behind: peopleOnly,
    address: () => address,
    async projects() {
      const [{ root }, others] = await Promise.all([context.describeProject(), otherProjects(state)]);
      return [...new Set([root ?? [], ...others].flat())];
    },
  });
  const open = (wanted: number): Promise<FrontDoor> =>
    openFrontDoor({
      port: wanted,
      routes: [
        ...page.routes,
        ...createApiRoutes(context, { secured: true, page: true }),
        ...createHealthRoutes(context),
      ],
      log,
      gate: page.gate,
      turn: createTurns().begin,
      limits: {
        requests: config.httpRequests,
        streams: config.httpRequests,
        shutdownMs: config.httpShutdownMs,
      },
    });
  // Somebody else may have the usual port; one that was asked for is not exchanged for another.
  const serving = await open(port).catch((error: unknown) => {
    if (isChosen || (error as BmadError).code !== 'unavailable') throw error;
    return open(0);
  });
  address = serving.origin;
  const leave = await page.enlist(serving.origin);
  context.stay();
  hearSignals(config.httpShutdownMs, async () => {
    await leave();
    await serving.close();
    context.close();
  });
  return { ...serving, id: page.id };
}

/** Those of servers that are running, and those for which the page was opened before. */
async function otherProjects(state: string): Promise<string[]> {
  const [running, started, known] = await Promise.all([
    openInstances(state).running(),
    stdioServers(state).running(),
    pageProjects(state).all(),
  ]);
  return [...[...running, ...started].flatMap(({ roots }) => roots), ...known];
}

/** A server as far as a link needs it: where it is, and what the link is made for. */
interface Place extends Pick<Instance, 'origin' | 'id'> {
  /** The project that the link opens; without one, the first of the server. */
  project?: string | undefined;
}

async function told(
  place: Place,
  state: string,
  open: ((link: string) => Promise<string | undefined>) | undefined,
  { err }: Said,
): Promise<void> {
  const link = await linkTo(place, state);
  err(t`Open this link within ten minutes; it works once:\n`);
  printer.out(link);
  const trouble = await open?.(link.trim());
  if (trouble !== undefined) err(`${trouble}\n`);
}

async function linkTo({ origin, id, project }: Place, state: string): Promise<string> {
  const { key } = await openPasses(state).link(id);
  return `${origin}/page/enter?${new URLSearchParams(present({ key, project })).toString()}\n`;
}

/** A program that listens where a server of the user did gets neither a link nor a second question. */
const strangerLine = (origin: string): string =>
  t`Another program answers at ${origin}, where a server of yours was listed. Do not open that address. It has been taken off the list; if you have opened links to it, run "bmad page --revoke all".\n`;

/** A link with an address that only the user knows: for the server that says it has it, or the one that it must be. */
async function linkAt(origin: string, state: string): Promise<string> {
  const { proven } = await openInstances(state).answering();
  const withPage = proven.filter(({ page }) => page);
  if (withPage.some(({ publicUrl }) => publicUrl === origin)) return linkTo({ origin, id: origin }, state);
  const { port, hostname } = new URL(origin);
  // At an address of this machine only a server that has proven itself gets a link; for another, the user vouches.
  const found =
    withPage.find((each) => port !== '' && new URL(each.origin).port === port) ??
    (withPage.length === 1 && !isLoopback(hostname) ? withPage[0] : undefined);
  if (found !== undefined) return linkTo({ origin, id: found.id }, state);
  throw new BmadError(
    'not_found',
    withPage.length === 0
      ? t`No server with the page is running here as this user.`
      : t`No server with the page that is running here as this user has the address ${quoted(origin)}.`,
    {
      hint: t`A link is for one server. Run this where that server runs, as its user; with public_url it says which address it has.`,
    },
  );
}

function addressOf(given: string): string {
  const isAddress = /^https?:\/\/[^\s?#@]+$/i.test(given) && URL.canParse(given);
  if (isAddress) return withoutEnd(given, '/');
  throw new BmadError('invalid_input', t`--at: ${quoted(given)} is not an address.`, {
    hint: t`Use the address of the server for browsers, such as https://bmad.example.com.`,
  });
}

async function listed(state: string): Promise<string> {
  const [sessions, { proven: running, strangers }] = await Promise.all([
    openPasses(state).list(),
    openInstances(state).answering(),
  ]);
  return [
    ...(sessions.length === 0 ? [t`No one has a session.`] : [t`Sessions:`]),
    ...sessions.map(
      ({ id, made, used, until, agent }) =>
        t`- ${id} since ${day(made)}, last used ${day(used)}, until ${day(until)}: ${agent || t`unknown browser`}`,
    ),
    ...(running.length === 0 ? [t`No server is running.`] : [t`Servers:`]),
    ...running.map(
      ({ origin, kind, pid, roots }) =>
        t`- ${origin} (${kind}, process ${pid}): ${roots.join(', ') || t`no project`}`,
    ),
    ...strangers.map(({ origin }) => strangerLine(origin).trim()),
    '',
  ].join('\n');
}

const day = (time: number): string => new Date(time).toISOString().slice(0, 16);

async function revoked(state: string, id: string): Promise<string> {
  const ended = await openPasses(state).revoke(id);
  if (ended === 0 && id !== 'all')
    throw new BmadError('not_found', t`There is no session ${quoted(id)}.`, {
      hint: t`"bmad page --list" lists the sessions; "all" ends all of them.`,
    });
  return t`${plural(ended, 'session')} ended.\n`;
}

/** The one after that of the server, so that both can run side by side. */
const PAGE_PORT = 2624;

/** Flags of the page that are not settings. */
export const PAGE_FLAGS: readonly [flag: string, meaning: string | Kept][] = [
  ['--open', 'Also open it in the browser'],
  [
    '--port <port>',
    new Kept(() => t`Port of the server for the page, if none is running; 0 picks a free one [${PAGE_PORT}]`),
  ],
  ['--at <address>', 'Print a link for a server at this address that runs as this user'],
  ['--list', 'List the sessions of people, and the servers that are running'],
  ['--revoke <id>', 'End a session, or "all" of them'],
  ['--export <file>', 'Write board, next steps and inbox to one HTML file, for people without access'],
  ['--force', 'With --export: replace a file that exists'],
];

export function pageHelp(): string {
  return t`${PRODUCT} ${VERSION}: a page for people: what is waiting for you, how far along the project is, and why.

Usage: ${CLI_PROGRAM} page [flags]     ("page" must come first)

Prints a link that works once, within ten minutes, and lets your browser in for seven days. If no server for the page is running, it runs here until Ctrl+C, for this machine and for you only. It shows all your projects: those of servers that are running, and those you have opened the page for.

${PAGE_FLAGS.map(([flag, meaning]) => `  ${flag.padEnd(18)} ${say(String(meaning))}`).join('\n')}

All settings work here too, such as --project: "${CLI_PROGRAM} --help" lists them.
`;
}

/** In the user's state folder: the projects for which the page was opened, the latest first. */
const PROJECTS_FILE = 'page-projects.json';
const MOST = 50;
const listSchema = z.array(z.string().max(4_000));

/** The projects of a user that the page has been opened for; those whose folder is gone are not told. */
function pageProjects(state: string) {
  const file = join(state, PROJECTS_FILE);
  async function read(): Promise<string[]> {
    const text = await readState(file);
    return listSchema.safeParse(text === undefined ? undefined : jsonIn(text)).data ?? [];
  }
  return {
    async all(): Promise<string[]> {
      const found = await Promise.all((await read()).map((root) => realFolder(root)));
      return found.filter((root) => root !== undefined);
    },
    async note(root: string): Promise<void> {
      // Of two at the same moment the last one holds: the other project is noted when its page is opened again.
      const roots = [root, ...(await read()).filter((each) => each !== root)].slice(0, MOST);
      await writeAtomic(file, `${JSON.stringify(roots)}\n`, { mode: 0o600 });
    },
  };
}

/** Writes what people without access are to see; answers with what to tell the person who asked for it. */
async function exportPage(
  context: Context,
  { file, cwd, force }: { file: string; cwd: string; force: boolean },
): Promise<string> {
  try {
    const [progress, waiting] = await Promise.all([
      dataOf(next, { detail: 'full' }, context),
      dataOf(inbox, {}, context),
    ]);
    const html = pageAsFile(progress, waiting, new Date());
    const place = resolve(cwd, file);
    if (force) await writeAtomic(place, html);
    else if (!(await writeNew(place, Buffer.from(html))))
      throw new BmadError('conflict', t`${place} exists already.`, { hint: t`Replace it with --force.` });
    return t`${place}, ${kilobytes(byteLength(html))}. It has the exact texts of all items: share it with care.\n`;
  } finally {
    context.close();
  }
}

async function dataOf<O extends z.ZodObject>(
  operation: Operation<z.ZodObject, O>,
  args: Record<string, unknown>,
  context: Context,
): Promise<z.output<O>> {
  const call = { signal: new AbortController().signal, progress: () => undefined };
  const outcome = await execute(operation, args, context, call);
  if (!outcome.ok) throw outcome.error;
  return outcome.data as z.output<O>;
}

const OPENING_FILE = 'page-open.html';

/** What opens an address with the browser of the user. */
function openerOf(platform: NodeJS.Platform): readonly [program: string, ...args: string[]] {
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return ['xdg-open'];
}

/**
 * Opens a link that lets in anyone who has it. Lists of processes show arguments to all users of a machine, so the browser is
 * given a file that only this user can read, and the link is in there. Answers with what went wrong.
 */
async function openInBrowser(
  link: string,
  state: string,
  { platform, env }: Pick<Outside, 'platform' | 'env'>,
  besides: readonly string[],
): Promise<string | undefined> {
  const file = join(state, OPENING_FILE);
  await writeAtomic(
    file,
    `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${link}"><title>BMAD</title><p><a href="${link}">Open the page</a></p>\n`,
    { mode: 0o600 },
  );
  const [name, ...args] = openerOf(platform);
  const programs = await programsBesides({ env, besides });
  const started = await programs
    .required(name)
    // It starts a browser by its name.
    .then((program) => startProgram(program, [...args, pathToFileURL(file).href], { env: programs.env }))
    .catch(ours(({ message }) => message));
  if (typeof started === 'string') return t`${started} Open the link yourself.`;
  started.child.unref();
  return undefined;
}
