import { plural, speaking, t } from '../base/text/message.ts';
import { createContext, type Outside } from '../app/app.ts';
import { BmadError, quoted } from '../base/errors.ts';
import { CLI_PROGRAM } from '../base/product.ts';
import { createTurns } from '../base/http/turns.ts';
import { withoutEnd } from '../base/text/ends.ts';
import { parseFlags } from '../config/flags.ts';
import { userStateFolder } from '../config/locations.ts';
import type { Context } from '../operations/context.ts';
import { createApiRoutes } from '../surfaces/http/api/route.ts';
import { isLoopback } from '../surfaces/http/names.ts';
import { openFrontDoor, type FrontDoor } from '../surfaces/http/front-door.ts';
import { createHealthRoutes } from '../surfaces/http/health.ts';
import { openInstances, type Instance } from '../surfaces/http/page/instances.ts';
import { openPasses } from '../surfaces/http/page/passes.ts';
import { peopleOnly } from '../surfaces/http/page/person-gate.ts';
import { hearSignals } from './hear-signals.ts';
import { httpPort } from './http-port.ts';
import { openInBrowser } from './open-in-browser.ts';
import { outside } from './outside.ts';
import { exportPage } from './page-export.ts';
import { PAGE_PORT, pageHelp } from './page-help.ts';
import { pageProjects } from './page-projects.ts';
import { pageParts } from './page-server.ts';
import { printer } from './printer.ts';
import { programArguments } from './program-place.ts';
import { fail } from './server-flags.ts';
import { stdioServers } from './stdio-servers.ts';
import { wordsFor } from './words.ts';

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
  await speaking(words, async () => {
    try {
      await servedPage({ settings, switches, values }, printer);
    } catch (error) {
      fail(error, CLI_PROGRAM);
    }
  });
}

type Typed = ReturnType<typeof parseFlags<(typeof SWITCHES)[number], (typeof VALUES)[number]>>;

async function servedPage({ settings, switches, values }: Typed, said: Said): Promise<void> {
  if (switches.has('help')) return said.out(pageHelp());
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
    return told(found, state, open, said);
  }
  const port = httpPort(true, values.port ?? String(PAGE_PORT)) ?? PAGE_PORT;
  const serving = await served(context, surroundings, port, values.port !== undefined);
  await told(serving, state, open, said);
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
type Place = Pick<Instance, 'origin' | 'id'>;

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

async function linkTo({ origin, id }: Place, state: string): Promise<string> {
  const { key } = await openPasses(state).link(id);
  return `${origin}/page/enter?key=${key}\n`;
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
