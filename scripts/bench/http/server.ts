import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface HttpServer {
  name: string;
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** Starts a server that says on stderr where it serves. */
export async function startServer(
  name: string,
  args: string[],
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<HttpServer> {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  const said: string[] = [];
  const lines = createInterface({ input: child.stderr });
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      said.push(line);
      const found = /serves (http:\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`${name} ended before it served:\n${said.join('\n')}`)));
  });
  return {
    name,
    url,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
