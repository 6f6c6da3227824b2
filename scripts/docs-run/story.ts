import { spawn, type ChildProcess } from 'node:child_process';
import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import type { Client } from '@modelcontextprotocol/client';
import { cliFile, repository, serverFile } from '../../tests/support/app.ts';
import { INITIALIZE, LineClient } from '../../tests/support/line-client.ts';
import { connectClient, textsOf } from '../../tests/support/mcp-client.ts';
import { bareEnvironment } from '../../tests/support/programs.ts';
import { TOOLSETS } from '../../src/operations/toolsets.ts';
import { openSample, removeSample, type Sample } from './sample.ts';
import { SAMPLES } from './samples/index.ts';
import { StandIns } from './stand-ins.ts';
import { callOf, wordsOf } from './words.ts';

const PROGRAMS: Record<string, readonly string[]> = {
  bmad: [process.execPath, cliFile],
  'bmad-mcp-server': [process.execPath, serverFile],
};

/** What happens in one sample, from the first block of a page that names it to the last. */
export class Story {
  readonly #sample: Sample;
  readonly #standIns: StandIns;
  #client: Client | undefined;
  #server: ChildProcess | undefined;

  private constructor(sample: Sample) {
    this.#sample = sample;
    this.#standIns = new StandIns([
      [repository, '/home/ada/bmad-mcp'],
      [sample.home, '/home/ada'],
      [sample.root, ''],
    ]);
  }

  static async open(name: string): Promise<Story> {
    const prepare = SAMPLES[name];
    if (prepare === undefined)
      throw new Error(`There is no sample "${name}". There are: ${Object.keys(SAMPLES).join(', ')}.`);
    return new Story(await openSample(prepare));
  }

  async close(): Promise<void> {
    await this.#client?.close();
    if (this.#server !== undefined) {
      const ended = new Promise((resolve) => void this.#server?.once('close', resolve));
      this.#server.kill('SIGTERM');
      await ended;
    }
    await removeSample(this.#sample);
  }

  get #environment(): Record<string, string> {
    // What is started here has to be found again by the next command, as on a real machine.
    return bareEnvironment(this.#sample.home, { BMAD_USAGE: 'true', ...this.#sample.env });
  }

  #lines(text: string): string[] {
    return this.#standIns.shown(text).trimEnd().split('\n');
  }

  /** The words of a command for this sample: programs by their files, variables that it sets apart. */
  #command(line: string): { argv: string[]; env: Record<string, string> } {
    const words = wordsOf(this.#standIns.real(line.replace(/^\$ /, '')));
    const env = { ...this.#environment };
    while (/^[A-Z_]+=/.test(words[0] ?? '')) {
      const [name = '', value = ''] = (words.shift() ?? '').split(/=(.*)/s);
      env[name] = value;
    }
    const [program = '', ...args] = words;
    return { argv: [...(PROGRAMS[program] ?? [program]), ...args], env };
  }

  /** What a command writes; `stdout` leaves out what it says about its progress. */
  run(line: string, streams?: string): Promise<string[]> {
    const { argv, env } = this.#command(line);
    return this.#ended(argv, env, streams);
  }

  /** Both streams go into one file, so that they come in the order in which they were written. */
  async #ended(
    [program = '', ...args]: readonly string[],
    env: Record<string, string>,
    streams = 'both',
  ): Promise<string[]> {
    const file = join(this.#sample.root, 'output');
    const output = await open(file, 'w');
    const child = spawn(program, args, {
      cwd: this.#sample.project,
      env,
      stdio: [
        'ignore',
        streams === 'stderr' ? 'ignore' : output.fd,
        streams === 'stdout' ? 'ignore' : output.fd,
      ],
    });
    await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    await output.close();
    return this.#lines(await readFile(file, 'utf8'));
  }

  async #connected(): Promise<Client> {
    this.#client ??= await connectClient({
      cwd: this.#sample.project,
      home: this.#sample.home,
      env: this.#environment,
      args: ['--toolsets', TOOLSETS.join(',')],
    });
    return this.#client;
  }

  /** Calls a tool with the real client; a call that shows no answer has to succeed. */
  async call(line: string, mustSucceed: boolean): Promise<string[]> {
    const { tool, args } = callOf(this.#standIns.real(line));
    const client = await this.#connected();
    const result = await client.callTool({ name: tool, arguments: args });
    const text = textsOf(result).join('\n');
    if (mustSucceed && result.isError === true) throw new Error(`${line}\n${text}`);
    return this.#lines(text);
  }

  /** What a host gets before it calls anything, as bytes on the wire and as text. */
  async greeting(): Promise<{ answer: string; instructions: string; prompts: number }> {
    const line = new LineClient({ cwd: this.#sample.project, home: this.#sample.home });
    const { jsonrpc, id, result } = await line.request('initialize', INITIALIZE);
    const { prompts } = await (await this.#connected()).listPrompts();
    await line.close();
    return {
      answer: JSON.stringify({ result, jsonrpc, id }),
      instructions: String(result?.['instructions']),
      prompts: prompts.length,
    };
  }

  /** Starts a server over HTTP, which stays up for the commands after it, and answers with what it says at its start. */
  async serve(line: string): Promise<string[]> {
    const { argv, env } = this.#command(line);
    const [program = '', ...args] = argv;
    const child = spawn(program, [...args, '--port', '0'], {
      cwd: this.#sample.project,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#server = child;
    let text = '';
    const address = await new Promise<string>((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        const found = /serves (http:\/\/\S+?:\d+)/.exec(text)?.[1];
        if (found !== undefined) resolve(found);
      });
      child.once('close', () => reject(new Error(`${line}\n${text}`)));
    });
    await fetch(`${address.replace('0.0.0.0', '127.0.0.1')}/healthz`);
    return this.#lines(text);
  }

  /** Runs a piece of a page that uses the library; one that does not open it itself gets a `bmad`. */
  async script(source: string): Promise<string[]> {
    const library = pathToFileURL(join(repository, 'dist', 'library.mjs')).href;
    const opens = source.includes('openBmad(') || !/\bbmad\./.test(source);
    const text = [
      `import { BmadError, GitSourceResolver, openBmad } from '${library}';`,
      ...(opens ? [] : ['const bmad = await openBmad();']),
      source.replace(/^import .* from 'mcp-server-bmad';$/m, ''),
      ...(opens ? [] : ['bmad.close();']),
    ];
    const file = join(this.#sample.root, 'script.mjs');
    await writeFile(file, this.#standIns.real(text.join('\n')));
    return this.#ended([process.execPath, file], this.#environment);
  }
}
