import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { expect, vi } from 'vitest';
import { execute } from '../../src/operations/execute.ts';
import type { AnyOperation, Answer } from '../../src/operations/operation.ts';
import type { BmadError } from '../../src/base/errors.ts';
import { STATE_FOLDER } from '../../src/base/product.ts';
import type { Outside } from '../../src/app/app.ts';
import { contextIn, temporaryFolder, testCall } from './app.ts';
import { bmadHere } from './command-line.ts';
import { writeFiles } from './folders.ts';
import { makeRepository, type TestRepository } from './git-repository.ts';
import { LineClient, type Lines, type Message } from './line-client.ts';
import { bareEnvironment, bmad, bmadServer, type Ended } from './programs.ts';

interface Done {
  data: Record<string, unknown>;
  answer: Answer;
  failed: boolean;
}

/** A machine with one user and one project: a home folder, a cache, and repositories that stand for the hosts. */
export class GitMachine {
  readonly folder: string;
  readonly home: string;
  readonly project: string;
  /** Holds the repositories, so that they can be made to disappear. */
  readonly hosts: string;

  private constructor(folder: string, name: string) {
    this.folder = folder;
    this.home = join(folder, `${name}home`);
    this.project = join(folder, `${name}project`);
    this.hosts = join(folder, 'hosts');
  }

  static async make(onEnd: (cleanUp: () => Promise<void>) => void): Promise<GitMachine> {
    return new GitMachine(await temporaryFolder(onEnd), '').#prepared();
  }

  /** Another machine that sees the same hosts. */
  async another(name: string): Promise<GitMachine> {
    return new GitMachine(this.folder, `${name}-`).#prepared();
  }

  async #prepared(): Promise<this> {
    for (const folder of [this.home, this.project, this.hosts]) await mkdir(folder, { recursive: true });
    return this;
  }

  get config(): string {
    return join(this.home, '.config', STATE_FOLDER, 'config.toml');
  }
  get lock(): string {
    return join(this.home, '.config', STATE_FOLDER, 'sources.lock.json');
  }
  get projectConfig(): string {
    return join(this.project, 'bmad-mcp.toml');
  }
  get projectLock(): string {
    return join(this.project, 'bmad-mcp.lock.json');
  }
  get cache(): string {
    return join(this.home, '.cache', STATE_FOLDER, 'git');
  }

  repository(name: string, files: Readonly<Record<string, string | Buffer>> = {}): Promise<TestRepository> {
    return makeRepository(this.hosts, name, files);
  }

  async write(file: string, text: string): Promise<void> {
    await writeFiles('/', { [file]: text });
  }

  async pins(file = this.lock): Promise<Record<string, { commit: string; digest: string }>> {
    const { sources } = JSON.parse(await readFile(file, 'utf8')) as {
      sources: Record<string, { commit: string; digest: string }>;
    };
    return sources;
  }

  env(more: Record<string, string> = {}): Record<string, string> {
    return bareEnvironment(this.home, more);
  }

  /** Runs one operation as a command does: with the configuration as it is now, in the project unless told otherwise. */
  async ok(operation: AnyOperation, input: unknown = {}, outside: Partial<Outside> = {}): Promise<Done> {
    const outcome = await this.#run(operation, input, outside);
    if (!outcome.ok) throw new Error(`${operation.name} failed: ${outcome.error.text}`);
    return outcome;
  }

  async fail(
    operation: AnyOperation,
    input: unknown = {},
    outside: Partial<Outside> = {},
  ): Promise<BmadError> {
    const outcome = await this.#run(operation, input, outside);
    if (outcome.ok) throw new Error(`${operation.name} succeeded with: ${outcome.answer.body.slice(0, 500)}`);
    return outcome.error;
  }

  async #run(operation: AnyOperation, input: unknown, outside: Partial<Outside>) {
    const context = await contextIn(this.project, {
      env: this.env(),
      home: this.home,
      patient: true,
      ...outside,
    });
    try {
      return await execute(operation, input, context, testCall());
    } finally {
      context.close();
    }
  }

  /** Runs a command line in the project, in this process. */
  bmad(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
    return bmadHere(args, { cwd: this.project, env: this.env(env) });
  }

  /** Runs the built program in the project. */
  program(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
    return bmad(args, { cwd: this.project, env: this.env(env) });
  }

  /** Runs the server program with arguments that make it end. */
  server(args: readonly string[]): Promise<Ended> {
    return bmadServer(args, { cwd: this.project, env: this.env() });
  }

  /** A server process of the built program, started in the project. */
  connect(args: readonly string[] = [], env: Record<string, string> = {}): Promise<LineClient> {
    return LineClient.connect({ cwd: this.project, home: this.home, args, env });
  }

  /** A folder for the front of the PATH with a git that notes its calls and then does `before`, in the shell, first. */
  async loggingGit(before = ''): Promise<{ env: { PATH: string }; calls(): Promise<string[]> }> {
    const bin = join(this.folder, `bin-${Math.random().toString(36).slice(2)}`);
    const log = join(bin, 'calls');
    const path = process.env['PATH'] ?? '';
    await writeFiles(bin, {
      git: `#!/bin/sh\nPATH='${path}'; export PATH\nprintf '%s\\n' "$*" >> '${log}'\n${before}\nexec git "$@"\n`,
    });
    await chmod(join(bin, 'git'), 0o755);
    await writeFile(log, '');
    return {
      env: { PATH: `${bin}${delimiter}${path}` },
      async calls() {
        return (await readFile(log, 'utf8'))
          .split('\n')
          .filter((line) => line !== '')
          .map(
            (line) => /(ls-remote|fetch|init|rev-parse|ls-tree|cat-file|rev-list) .*/.exec(line)?.[0] ?? line,
          );
      },
    };
  }
}

/** The names of the agents a server lists, in one line. */
export async function agentsOf(client: Lines): Promise<string> {
  return textOf(await client.callTool({ operation: 'list', query: 'agents', detail: 'brief' }));
}

/** The text an answer begins with. */
export function textOf({ result, error }: Message): string {
  if (error !== undefined) throw new Error(error.message);
  const [first] = (result?.['content'] ?? []) as { text: string }[];
  return first?.text ?? '';
}

/** Asks until the server lists an agent, for two minutes at most. */
export async function untilListed(client: Lines, name: string): Promise<void> {
  await vi.waitFor(async () => expect((await agentsOf(client)).split(', ')).toContain(name), {
    timeout: 120_000,
    interval: 100,
  });
}
