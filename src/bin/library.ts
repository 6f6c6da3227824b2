import { t } from '../base/text/message.ts';
import { resolve } from 'node:path';
import { present } from '../base/values.ts';
import { createContext } from '../app/app.ts';
import { once } from '../base/async.ts';
import { BmadError } from '../base/errors.ts';
import { settings, type RawSettings } from '../config/schema.ts';
import { type Asker, createAsker, parseGitUrl } from '../library/ask.ts';
import type * as Public from '../library/public.ts';
import type { Context } from '../operations/context.ts';
import { outside } from './outside.ts';

/** Programs have no size limit for answers; hosts do. What a program starts says nothing about its user. */
const PRESETS = { answerBytes: '400000', pageSize: '200', usage: 'false' };

/** What a caller leaves open is taken from the process, here and nowhere else. */
async function openContext(
  options: Public.OpenOptions,
  { presets = PRESETS, terminal = true }: { presets?: RawSettings; terminal?: boolean } = {},
): Promise<Context> {
  const { env, home, log, project, paths, git, discovery, cache, logLevel } = options;
  for (const source of git ?? []) parseGitUrl(source);
  const flags = present<RawSettings>({ project, paths, git, discovery, cache, logLevel });
  return createContext({
    ...outside(flags, { presets, patient: true }),
    ...present({ env }),
    ...(home === undefined ? {} : { home: resolve(home) }),
    writeError: (text) => log?.(text.trimEnd()),
    terminal,
  });
}

async function openBmad(options: Public.OpenOptions = {}): Promise<Public.Bmad> {
  try {
    const context = await openContext(options);
    return await (await library()).createBmad(context);
  } catch (error) {
    throw error instanceof BmadError ? error.map(inOptionWords) : error;
  }
}

/** The settings know their flags; the library's caller passed options. */
function inOptionWords(text: string): string {
  return settings().reduce(
    (words, { flag, name }) => words.replaceAll(`flag ${flag}`, `option "${name}"`),
    text,
  );
}

/** The operations are loaded with the first call: the command line, which lies in the same file, needs none of these. */
const library = (): Promise<typeof import('../library/bmad.ts')> => import('../library/bmad.ts');

class GitSourceResolver implements Public.GitSourceResolver {
  readonly #open: () => Promise<Asker>;
  #opened = false;
  #closed = false;

  constructor(options: Public.Surroundings = {}) {
    this.#open = once(async () => {
      this.#opened = true;
      const asker = createAsker(await openContext(options));
      if (this.#closed) asker.close();
      return asker;
    });
  }

  async resolve(gitUrl: string): Promise<string> {
    return (await library()).resolveGitSource(await this.#open(), gitUrl);
  }

  async listCache(): Promise<Public.CacheEntry[]> {
    return (await library()).listCache(await this.#open());
  }

  async clearCache(): Promise<void> {
    return (await library()).clearCache(await this.#open());
  }

  parseGitUrl(gitUrl: string): Public.GitUrlSpec {
    return parseGitUrl(gitUrl);
  }

  close(): void {
    this.#closed = true;
    if (this.#opened)
      void this.#open().then(
        (asker) => asker.close(),
        () => undefined,
      );
  }
}

/** The server inside a program. Each client has a connection of its own; all of them share what was read. */
class BmadServer implements Public.BmadServer {
  readonly #open: () => Promise<Context>;
  readonly #connections = new Set<{ close(): Promise<void> }>();
  #opening: Promise<Context> | undefined;
  #closed = false;

  constructor(options: Public.OpenOptions = {}, ...others: unknown[]) {
    // Programs in JavaScript have no compiler that says so, and would be served another project.
    if (typeof options !== 'object' || others.length > 0)
      throw new BmadError('invalid_input', t`BmadServer takes one object with options.`, {
        hint: t`For example: new BmadServer({ project: '/path', git: ['git+https://…'] }).`,
      });
    this.#open = once(async () => {
      try {
        // Its clients are hosts, with the limits that hosts have.
        return await openContext(options, { presets: {}, terminal: false });
      } catch (error) {
        throw error instanceof BmadError ? error.map(inOptionWords) : error;
      }
    });
  }

  /** Another call may close the server during any wait. */
  #checkOpen(): void {
    if (this.#closed) throw new BmadError('cancelled', t`The server was closed.`);
  }

  async #context(): Promise<Context> {
    this.#checkOpen();
    this.#opening = this.#open();
    const context = await this.#opening;
    this.#checkOpen();
    return context;
  }

  async initialize(): Promise<void> {
    await (await this.#context()).workspace();
    this.#checkOpen();
  }

  async connect(transport: Public.McpTransport): Promise<void> {
    const context = await this.#context();
    const { serveTransport } = await import('../surfaces/mcp/stdio.ts');
    this.#checkOpen();
    // The declarations have no package of the protocol to take its types from.
    const connection = serveTransport(context, transport as Parameters<typeof serveTransport>[1]);
    this.#connections.add(connection);
    void connection.ended.then(() => this.#connections.delete(connection));
  }

  async close(): Promise<void> {
    this.#closed = true;
    try {
      await Promise.all([...this.#connections].map((connection) => connection.close()));
    } finally {
      const context = await this.#opening?.catch(() => undefined);
      context?.close();
    }
  }
}

export { BmadError, BmadServer, GitSourceResolver, openBmad };
