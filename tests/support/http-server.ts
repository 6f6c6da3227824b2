import { spawn, type ChildProcess } from 'node:child_process';
import { outsideHere, serverFile } from './app.ts';
import { bareEnvironment, withHandles } from './programs.ts';
import { openHttpServer } from '../../src/bin/http-server.ts';
import { once } from '../../src/base/async.ts';
import { serverFlags } from '../../src/bin/outside.ts';

export interface HttpServer {
  url: string;
  /** Everything it has written to stderr so far. */
  stderr(): string;
  /** Ends it as a service manager does, and answers with its exit code. */
  stop(): Promise<number | null>;
}

export interface HttpServerProcess extends HttpServer {
  child: ChildProcess;
  /** Its exit code, once it has ended. */
  ended: Promise<number | null>;
}

export interface HttpServerOptions {
  cwd: string;
  home: string;
  /** The program and its arguments, where it is not the server in dist. */
  args?: readonly string[];
  /** Further arguments for the server in dist. */
  more?: readonly string[];
  env?: Record<string, string>;
  /** How many files it may have open; without it, as many as this process. */
  handles?: number;
}

/** A server process of its own on a free port, ready for requests. */
export async function startHttpServer({
  cwd,
  home,
  more = [],
  args = [serverFile, '--http', '--port', '0', ...more],
  env = {},
  handles,
}: HttpServerOptions): Promise<HttpServerProcess> {
  const child = spawn(...withHandles(handles, process.execPath, args), {
    cwd,
    env: bareEnvironment(home, env),
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let stderr = '';
  const ended = new Promise<number | null>((resolve) => void child.once('close', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      const found = /(?:serves|sert) (http:\S+)/.exec(stderr)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then((code) => reject(new Error(`The server has ended with code ${code}: ${stderr}`)));
  });
  return {
    url,
    child,
    ended,
    stderr: () => stderr,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/**
 * The same server in this process, on a free port: a start takes longer than most of what servers are asked. This is for tests
 * of what they answer, where others start the program.
 */
export async function serveHere({
  cwd,
  home,
  more = [],
  env = {},
}: Pick<HttpServerOptions, 'cwd' | 'home' | 'more' | 'env'>): Promise<HttpServer> {
  let stderr = '';
  const { settings, switches, values } = serverFlags(['--http', ...more]);
  const around = {
    ...outsideHere({ cwd, home, flags: settings, env: bareEnvironment(home, env) }),
    writeError: (text: string) => void (stderr += text),
  };
  const asked = { port: values.port ?? '0', newToken: switches.has('new-token') };
  const server = await openHttpServer(around, asked);
  stderr += server.startLines();
  return {
    url: server.url,
    stderr: () => stderr,
    stop: once(async () => {
      await server.leave();
      await server.drain();
      await server.close();
      return 0;
    }),
  };
}
