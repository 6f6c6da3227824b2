import type { Client } from '@modelcontextprotocol/client';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { CLI_PROGRAM, TOOLSETS } from '../../src/base/product.ts';
import { AGENT_TOOL_LIMIT } from '../../src/operations/activation/agent-tools.ts';
import { repository } from '../../tests/support/app.ts';
import { bmadHere } from '../../tests/support/command-line.ts';
import { INITIALIZE, LineClient } from '../../tests/support/line-client.ts';
import { connectClient, textsOf } from '../../tests/support/mcp-client.ts';
import { connectHere } from '../../tests/support/mcp-here.ts';
import { bareEnvironment } from '../../tests/support/programs.ts';
import { tokens } from '../bench/figures.ts';
import { toolsetSizes } from '../reference/tools.ts';
import type { Figures } from './markers.ts';
import { SAMPLES, type Sample, openSample, removeSample } from './samples.ts';
import { StandIns } from './compare.ts';

/**
 * Commands are run and tools called in programs, or `here`, as those do it but without a start for each. Documents are written
 * from programs; whoever compares them with what is done here finds where the two differ.
 */
export type Running = 'programs' | 'here';

/** What happens in one sample, from the first block of a page that names it to the last. */
export class Story {
  readonly #sample: Sample;
  readonly #how: Running;
  readonly #standIns: StandIns;
  #client: Client | undefined;
  #server: ChildProcess | undefined;
  /** Of the last command. */
  #code: number | null = 0;

  private constructor(sample: Sample, how: Running) {
    this.#sample = sample;
    this.#how = how;
    this.#standIns = new StandIns([
      [repository, '/home/ada/bmad-mcp'],
      [sample.home, '/home/ada'],
      [sample.root, ''],
    ]);
  }

  static async open(name: string, how: Running = 'programs'): Promise<Story> {
    const prepare = SAMPLES[name];
    if (prepare === undefined)
      throw new Error(`There is no sample "${name}". There are: ${Object.keys(SAMPLES).join(', ')}.`);
    return new Story(await openSample(prepare), how);
  }

  async close(): Promise<void> {
    await this.#client?.close();
    await this.#stopServer();
    await removeSample(this.#sample);
  }

  async #stopServer(): Promise<void> {
    if (this.#server === undefined) return;
    const ended = new Promise((done) => void this.#server?.once('close', done));
    this.#server.kill('SIGTERM');
    await ended;
    this.#server = undefined;
  }

  get #environment(): Record<string, string> {
    // What is started here has to be found again by the next command, as on a real machine.
    const { BMAD_USAGE: _, ...bare } = bareEnvironment(this.#sample.home);
    return {
      ...bare,
      PATH: `${this.#sample.programs}${delimiter}${bare['PATH'] ?? ''}`,
      ...this.#sample.env,
    };
  }

  #lines(text: string): string[] {
    const lines = this.#standIns.shown(text).trimEnd().split('\n');
    return lines.map((line) => line.trimEnd());
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
    return { argv: [program, ...args], env };
  }

  /** Does something that readers need not see. */
  async prepare(line: string): Promise<void> {
    const lines = await this.run(line);
    if (this.#code !== 0) throw new Error(`${line}\n${lines.join('\n')}`);
  }

  /** Writes a file that the page shows, in the project unless it says where. */
  async write(path: string, lines: readonly string[]): Promise<void> {
    const file = resolve(this.#sample.project, this.#standIns.real(path));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${lines.join('\n')}\n`);
  }

  /** What a command writes; `stdout` leaves out what it says about its progress. */
  run(line: string, streams?: string): Promise<string[]> {
    const { argv, env } = this.#command(line);
    // What is started is noted in the background, until the program ends.
    return this.#how === 'here' && argv[0] === CLI_PROGRAM && argv[1] !== 'execute'
      ? this.#here(argv.slice(1), env, streams)
      : this.#ended(argv, env, streams);
  }

  async #here(args: readonly string[], env: Record<string, string>, streams = 'both'): Promise<string[]> {
    const { code, screen, stdout, stderr } = await bmadHere(args, { cwd: this.#sample.project, env });
    this.#code = code;
    return this.#told(streams === 'both' ? screen : streams === 'stdout' ? stdout.toString('utf8') : stderr);
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
    this.#code = await new Promise<number | null>((resolveCode, reject) => {
      child.once('error', reject);
      child.once('close', resolveCode);
    });
    await output.close();
    return this.#told(await readFile(file, 'utf8'));
  }

  #told(text: string): string[] {
    const lines = this.#lines(text);
    // How far a command is comes first, and depends on how fast the machine is.
    while (lines.length > 1 && lines[0]?.endsWith(' …')) lines.shift();
    return lines;
  }

  async #connected(): Promise<Client> {
    const connect = this.#how === 'here' ? connectHere : connectClient;
    this.#client ??= await connect({
      cwd: this.#sample.project,
      home: this.#sample.home,
      env: { BMAD_USAGE: 'true', ...this.#sample.env },
      ...(this.#sample.model === undefined ? {} : { sample: this.#sample.model }),
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

  /** The answer to a request of the protocol: the text or the values in it, else all of it; or as it came. */
  async ask(line: string, asItCame: boolean): Promise<string[]> {
    const [, method = '', params = '{}'] = /^(\S+) ?(.*)$/.exec(this.#standIns.real(line)) ?? [];
    const client = new LineClient({ cwd: this.#sample.project, home: this.#sample.home });
    try {
      await client.initialize();
      const answer = await client.request(method, JSON.parse(params), 2);
      if (asItCame) return this.#lines(JSON.stringify(answer));
      const { result, error } = answer;
      if (error !== undefined) throw new Error(`${line}\n${error.message}`);
      const { contents, completion } = result as {
        contents?: { text: string }[];
        completion?: { values: string[] };
      };
      return this.#lines(
        contents?.[0]?.text ?? completion?.values.join('\n') ?? JSON.stringify(result, undefined, 2),
      );
    } finally {
      await client.close();
    }
  }

  /** What a host gets before it calls anything, as bytes on the wire and as text. */
  async greeting(): Promise<{
    answer: string;
    instructions: string;
    prompts: number;
    templates: number;
  }> {
    const line = new LineClient({ cwd: this.#sample.project, home: this.#sample.home });
    const { jsonrpc, id, result } = await line.request('initialize', INITIALIZE);
    const client = await this.#connected();
    const { prompts } = await client.listPrompts();
    const { resourceTemplates } = await client.listResourceTemplates();
    await line.close();
    return {
      answer: JSON.stringify({ result, jsonrpc, id }),
      instructions: String(result?.['instructions']),
      prompts: prompts.length,
      templates: resourceTemplates.length,
    };
  }

  /** Starts a server over HTTP, which stays up for the commands after it, and answers with what it says at its start. */
  async serve(line: string): Promise<string[]> {
    await this.#stopServer();
    const { argv, env } = this.#command(line);
    const [program = '', ...args] = argv;
    const child = spawn(program, [...args, '--port', '0'], {
      cwd: this.#sample.project,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#server = child;
    this.#standIns.forget('port');
    let text = '';
    const address = await new Promise<string>((found, reject) => {
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        const url = /serves (http:\/\/\S+?:\d+)/.exec(text)?.[1];
        if (url !== undefined) found(url);
      });
      child.once('close', () => reject(new Error(`${line}\n${text}`)));
    });
    await fetch(`${address.replace('0.0.0.0', '127.0.0.1')}/healthz`);
    return this.#lines(text);
  }

  /** Runs a piece of a page that uses the library; one that does not open it itself gets a `bmad`. */
  async script(source: string): Promise<string[]> {
    const file = join(this.#sample.root, 'script.mjs');
    await writeFile(file, this.#standIns.real(libraryScript(source)));
    return this.#ended([process.execPath, file], this.#environment);
  }
}

/** A piece of a page that uses the library, as a program; one that does not open it itself gets a `bmad`. */
function libraryScript(source: string): string {
  const packages = createRequire(import.meta.url);
  const library = pathToFileURL(join(repository, 'dist', 'library.mjs')).href;
  const opens = source.includes('openBmad(') || !/\bbmad\./.test(source);
  const text = [
    `import { BmadError, BmadServer, GitSourceResolver, openBmad } from '${library}';`,
    ...(opens ? [] : ['const bmad = await openBmad();']),
    source
      .replace(/^import .* from 'mcp-server-bmad';$/m, '')
      // It lies where no packages are.
      .replace(/(?<= from ')@[^']+(?=';$)/gm, (name) => pathToFileURL(packages.resolve(name)).href),
    ...(opens ? [] : ['bmad.close();']),
  ];
  return text.join('\n');
}

/** Takes a command line apart as a shell does: words, single and double quotes, a comment at the end. */
export function wordsOf(line: string): string[] {
  const words: string[] = [];
  const parts = /\s*(?:#.*$|((?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+))/gy;
  for (const [, word] of line.trim().matchAll(parts))
    if (word !== undefined)
      words.push(
        word.replace(
          /\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)"/g,
          (_, escaped?: string, single?: string, double?: string) =>
            escaped ?? single ?? (double ?? '').replace(/\\(["\\$`])/g, '$1'),
        ),
      );
  return words;
}

/** A tool and its arguments as documents write them: `tool {name:"value"}`, or only the braces for `bmad`. */
export function callOf(line: string): { tool: string; args: Record<string, unknown> } {
  const [, tool = 'bmad', braces = ''] = /^(?:([a-z][\w-]*) +)?(\{.*\})$/.exec(line.trim()) ?? [];
  if (braces === '') throw new Error(`This is not a call: ${line}`);
  const strict = braces.replace(
    /"(?:[^"\\]|\\.)*"|([{,]\s*)([A-Za-z_]\w*)(?=\s*:)/g,
    (whole, before?: string, name?: string) => (name === undefined ? whole : `${before}"${name}"`),
  );
  return { tool, args: JSON.parse(strict) as Record<string, unknown> };
}

/** About as much: the paths in an answer are longer on one machine than on the other. */
const about = (size: number): number => Math.round(size / 10) * 10;

/** Everything that documents may mention with `<!-- figure: name -->`. */
export async function measuredFigures(): Promise<Figures> {
  const figures = new Map<string, number>([['tools.agents.limit', AGENT_TOOL_LIMIT]]);
  for (const { toolsets, tools, tokens: size } of await toolsetSizes()) {
    figures.set(`tools.${toolsets}`, tools.length);
    figures.set(`tools.${toolsets}.tokens`, size);
    const operation = tools.find(({ name }) => name === 'bmad')?.inputSchema.properties?.['operation'];
    if (toolsets === 'bmad') figures.set('bmad.operations', (operation as { enum: string[] }).enum.length);
  }
  const story = await Story.open('empty');
  try {
    const { answer, instructions, prompts, templates } = await story.greeting();
    figures.set('initialize.bytes', Buffer.byteLength(answer));
    figures.set('instructions.bytes', Buffer.byteLength(instructions));
    figures.set('instructions.tokens', tokens(Buffer.byteLength(instructions)));
    figures.set('prompts', prompts);
    figures.set('resources.templates', templates);
    const old = await story.call('{operation:"list", query:"workflows", category:"deprecated"}', true);
    figures.set('old.names', Number(/^(\d+) workflows/.exec(old.at(-1) ?? '')?.[1]));
    for (const [name, call] of [
      ['execute.architect', '{operation:"execute", agent:"architect"}'],
      ['execute.prd', '{operation:"execute", workflow:"prd"}'],
    ] as const) {
      const text = (await story.call(call, true)).join('\n');
      figures.set(`${name}.tokens`, about(tokens(Buffer.byteLength(text))));
    }
  } finally {
    await story.close();
  }
  return figures;
}
