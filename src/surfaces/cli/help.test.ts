import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { bmadHere } from '../../../tests/support/command-line.ts';
import { COMMANDS } from './commands.prepared.ts';
import { lineWidth } from './screen/text.ts';
import { EVERY_DAY, SHORTCUT_WORDS, spokenCommand } from './overview.ts';

const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);
const env = { HOME: home, PATH: process.env['PATH'] ?? '', NO_COLOR: '1', BMAD_EMBEDDER: 'none' };

/** What a command line prints into pipes, and its exit code. */
async function typed(...args: string[]) {
  const { code, stdout, stderr } = await bmadHere([...args, '--project', cwd], { cwd, env });
  return { code, out: stdout.toString('utf8'), err: stderr };
}
const inTerminal = async (columns: number, ...args: string[]) =>
  (await bmadHere(args, { cwd, env, terminal: true, columns })).screen;

describe('help', () => {
  it('is asked for before or behind a command', async () => {
    const overview = await typed('--help');
    expect(overview.code).toBe(0);
    expect(overview.out).toMatch(/^BMAD MCP Server .*\n\nUsage: bmad <command>/);
    const eight = 'setup next search list remember recall contract doctor'.split(' ');
    expect([...overview.out.matchAll(/^ {2}(\w+) /gm)].map(([, word]) => word)).toEqual(eight);
    expect((await typed('help', '--all')).out).toMatch(/\nEvery day: agents, [^]*\nAlso: [^]*\nSettings /);
    expect(await typed('--help', '--all')).toEqual(await typed('help', '--all'));
    expect(await typed('help')).toEqual(overview);
    expect(await typed('help', 'task', 'add')).toEqual(await typed('task', 'add', '--help'));
    expect(await typed('help', 'recall')).toEqual(await typed('memory', 'recall', '--help'));
    expect((await typed('help', 'remember')).out).toContain('Usage: bmad remember [options] <text...>');
    expect(await typed('help', 'memory')).toEqual(await typed('memory', '--help'));
    expect((await typed('help', 'memory')).out).toContain(
      '\n  forget <id>                     Forget a memory\n',
    );
  });

  it('N-09: explains any word: an agent, a workflow, a part of a command, a setting, a wish', async () => {
    const agent = (await typed('help', 'architect')).out;
    expect(agent).toMatch(/^architect: Winston.* System Architect, agent, bmm\n\n/);
    expect(agent).toContain('\n  Use bmad: start architect.\n');
    expect((await typed('help', 'winston')).out).toBe(agent);
    expect((await typed('help', 'prd')).out).toMatch(/^prd: .*workflow, bmm\n/);
    expect((await typed('help', 'decision')).out).toMatch(/^Commands:\n {2}bmad log decision <text>/);
    for (const word of ['answer_bytes', 'answer-bytes', 'BMAD_ANSWER_BYTES', '--answer-bytes'].slice(0, 3))
      expect((await typed('help', word)).out, word).toMatch(/^A setting .*\n {2}--answer-bytes /);
    expect((await typed('help', 'break my product down')).out).toContain('create-epics-and-stories');
    for (const columns of [60, 80, 100])
      for (const each of (await inTerminal(columns, 'help', 'architect')).split('\n'))
        if (!each.includes('bmad ')) expect(lineWidth([{ text: each }]), each).toBeLessThanOrEqual(columns);
  });

  it('A-19: takes a sentence without quotation marks', async () => {
    expect(await typed('search', 'product', 'manager')).toEqual(await typed('search', 'product manager'));
    expect((await typed('search', 'product', 'manager')).out).toContain('**pm**');
  });

  it('N-11: says first what a model is given, and copies it as it is', async () => {
    const { stdout, stderr, screen } = await bmadHere(['architect'], {
      cwd,
      env,
      terminal: true,
      columns: 80,
    });
    expect(screen).toMatch(/^What follows is the text that a model is given\.[^]*--copy[^]*Winston/);
    expect(stderr).toContain('What follows');
    expect(stdout.toString('utf8')).not.toContain('What follows');
    expect((await typed('architect')).err).not.toContain('What follows');
  });

  it('is one screen of 80 columns for every command and group', async () => {
    const groups = new Set(COMMANDS.map(({ command }) => command.split(' ')[0] ?? ''));
    for (const words of ['', ...groups, ...SHORTCUT_WORDS]) {
      const screen = await inTerminal(80, ...words.split(' ').filter(Boolean), '--help');
      const lines = screen.trimEnd().split('\n');
      expect(lines.length, words).toBeLessThanOrEqual(50);
      for (const each of lines)
        if (!/^ +bmad /.test(each)) expect(lineWidth([{ text: each }]), each).toBeLessThanOrEqual(80);
    }
  });

  it('says what is near to a word that is not known, at every level', async () => {
    const first = await typed('lsit');
    expect(first.code).not.toBe(0);
    expect(first.err).toContain('\nTo run the command "list": bmad list\n');
    expect((await typed('recal')).err).toContain('To run the command "recall": bmad recall');
    expect((await typed('contrat', 'run')).err).toContain(
      'To run the command "contract run": bmad contract run\n',
    );
    expect((await typed('contrat', 'whatever')).err).not.toContain('To run the command');
    expect((await typed('init')).err).toContain('bmad setup');
    expect((await typed('memory', 'lst')).err).toBe(
      "error: unknown command 'lst'\n(Did you mean list?)\n\nbmad help memory lists its commands.\n",
    );
    expect((await typed('list', '--limt', '3')).err).toMatch(
      /^error: unknown option '--limt'\n\(Did you mean --limit\?\)\n/,
    );
    expect((await typed('list', 'agnts')).err).toContain('Did you mean: agents?');
  });

  it('shows the usage and an example where an argument is missing', async () => {
    expect((await typed('remember')).err).toBe(
      'error: missing required argument \'text\'\n\nUsage: bmad remember [options] <text...>\nExample: bmad remember "We deploy on Tuesdays only"\nbmad remember --help explains it.\n',
    );
    expect((await typed('recall')).err).toBe(
      'error: missing required argument \'query\'\n\nUsage: bmad recall [options] <query...>\nExample: bmad recall "which database"\nbmad recall --help explains it.\n',
    );
  });
});

describe('words that people try first', () => {
  it('stand for commands, and the typed flags count before theirs', () => {
    expect(spokenCommand(['agents', '--json'])).toEqual(['list', 'agents', '--json']);
    expect(spokenCommand(['status'])).toEqual(['next', '--detail', 'brief']);
    expect(spokenCommand(['status', '--detail=full'])).toEqual(['next', '--detail=full']);
    expect(spokenCommand(['help', 'status'])).toEqual(['next', '--help']);
    expect(spokenCommand(['architect', 'agents'])).toEqual(['architect', 'agents']);
    expect(spokenCommand([])).toEqual([]);
    for (const word of SHORTCUT_WORDS) if (word !== 'help') expect(EVERY_DAY).toContain(word);
  });

  it('keep a text and find it again, without knowing how memories are sorted', async () => {
    expect((await typed('remember', 'We deploy on Tuesdays only')).out).toMatch(
      /^Remembered\. .*shared-context/,
    );
    const decided = await typed(
      'remember',
      'PostgreSQL for orders',
      '--type',
      'decision',
      '--agent',
      'architect',
      '--json',
    );
    expect(JSON.parse(decided.out)).toMatchObject({ memory: { type: 'decisions', agent: 'architect' } });
    expect((await typed('recall', 'Tuesdays')).out).toContain('We deploy on Tuesdays only');
    expect((await typed('recall', 'orders', '--type', 'decision')).out).toContain('PostgreSQL for orders');
  });

  it('say nothing about what is going on in a pipe', async () => {
    expect((await typed('memory', 'reindex')).err).not.toContain('…');
  });

  it('are understood in the singular where one word is meant', async () => {
    expect((await typed('list', 'agent')).out).toBe((await typed('agents')).out);
    expect((await typed('list', 'workflow', '--limit', '1')).out).toContain('**');
    const refused = (await typed('code', '')).err;
    expect(refused).toMatch(/bmad code: "query" must not be empty/);
    expect(refused).toContain('"bmad code --help" lists what it takes.');
    expect(refused).not.toContain('search_codebase');
    // In the middle of another word it is not meant: "done" is no "abandoned".
    expect((await typed('run', 'finish', 'some-run', 'done')).err).toMatch(/"done".*abandoned/s);
  });
});
