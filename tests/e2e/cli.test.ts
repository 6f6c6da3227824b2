import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../src/base/product.ts';
import { cliFile, contentRoot, temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { bmadHere } from '../support/command-line.ts';
import { bareEnvironment, bmad, bmadServer, type Ended } from '../support/programs.ts';
import { DEFAULT_TOOLS } from '../support/tool-names.ts';

const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);
const env = bareEnvironment(home);

const ARCHITECT = 'bmm/agents/bmad-agent-architect/SKILL.md';
const LARGE = 'core/bmad-brainstorming/assets/brain-selector.html';
/** The built program: each command once, each kind of answer and each way to end. */
const run = (...args: string[]): Promise<Ended> => bmad(args, { cwd, env });
/** The same in this process, for the other cases. */
const here = (...args: string[]): Promise<Ended> => bmadHere(args, { cwd, env });
const server = (...args: string[]): Promise<Ended> => bmadServer(args, { cwd, env });

/** Every command, with what its text and its data must hold. */
const COMMANDS: { args: string[]; text: RegExp; data: object }[] = [
  {
    args: ['list'],
    text: /^- \*\*analyst\*\* Mary/,
    data: { what: 'agents', total: 5 },
  },
  {
    args: ['list', 'workflows', '--category', 'plan', '--module', 'bmm'],
    text: /^- \*\*prd\*\*/m,
    data: { what: 'workflows', items: expect.arrayContaining([expect.objectContaining({ name: 'prd' })]) },
  },
  {
    args: ['list', 'resources', '--pattern', 'bmm/agents/**/*.md', '--limit', '2'],
    text: /^- bmad:\/\/bmm\/agents\//,
    data: { what: 'resources', total: 5, next: expect.any(String) },
  },
  {
    args: ['search', 'ux designer', '--type', 'agents'],
    text: /^- \*\*ux-designer\*\*/,
    data: {
      query: 'ux designer',
      items: expect.arrayContaining([expect.objectContaining({ name: 'ux-designer' })]),
    },
  },
  {
    args: ['read', 'architect', '--section', 'Overview'],
    text: /^## Overview/,
    data: { uri: `bmad://${ARCHITECT}`, complete: true },
  },
  {
    args: ['execute', 'prd', 'Plan a shop.'],
    text: /^# .*workflow bmm\/bmad-prd[^]*Plan a shop\./,
    data: { name: 'bmm/bmad-prd', kind: 'workflow', problems: [] },
  },
  {
    args: ['next'],
    text: /^To begin something new, use build \(for one change\) · .*product-brief/m,
    data: {
      actions: expect.arrayContaining([
        expect.objectContaining({
          steps: [
            {
              operation: 'execute',
              args: { name: 'product-brief', kind: 'workflow' },
              why: expect.any(String),
            },
          ],
        }),
      ]),
    },
  },
  {
    args: ['doctor', '--no-handshake'],
    text: /^BMAD MCP Server .*\n[^]*Problems: none/,
    data: { ok: true, version: VERSION, problems: [] },
  },
  {
    args: ['config', 'show'],
    text: /^\| page_size \| 50 \| default \|$/m,
    data: { settings: expect.arrayContaining([{ name: 'page_size', value: '50', from: 'default' }]) },
  },
];

describe('a command', () => {
  it.each(COMMANDS)('bmad $args prints text', async ({ args, text }) => {
    const { code, stdout } = await run(...args);
    expect(code).toBe(0);
    expect(stdout.toString('utf8')).toMatch(text);
  });

  it.each(COMMANDS)('bmad $args --json prints data', async ({ args, data }) => {
    const { code, stdout, stderr } = await (args.length === 1 ? run : here)(...args, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout.toString('utf8'))).toMatchObject(data);
    expect(stderr).toBe('');
  });

  it('leaves --lang to the command that has it as its own', async () => {
    const project = await temporaryFolder(afterAll);
    await writeFiles(project, {
      'shop.ts': 'export function openShop() {}\n',
      'shop.py': 'def open_shop(): pass\n',
    });
    const { code, stdout } = await bmad(['code', 'open shop', '--lang', 'python'], { cwd: project, env });
    expect([code, stdout.toString('utf8')]).toEqual([0, expect.stringMatching(/shop\.py/)]);
    expect(stdout.toString('utf8')).not.toContain('shop.ts');
  });

  it('takes --json in front as well', async () => {
    const { code, stdout } = await here('--json', 'list', 'agents');
    expect(code).toBe(0);
    expect(JSON.parse(stdout.toString('utf8'))).toMatchObject({ total: 5 });
  });

  it('has a page of help that fits on a screen', async () => {
    const first = await run('--help');
    expect(first.code).toBe(0);
    expect(first.stdout.toString('utf8').split('\n').length).toBeLessThanOrEqual(20);
    const { code, stdout } = await run('help', '--all');
    expect(code).toBe(0);
    const lines = stdout.toString('utf8').split('\n');
    // In a group of its own kind, or among those that are needed less often.
    const also = /^Also: ([\w, \n]*)/mu.exec(lines.join('\n'))?.[1] ?? '';
    const named = [...lines.map((line) => line.trim().split(' ')[0]), ...also.split(/[,\s]+/u)];
    for (const { args } of COMMANDS) expect(named).toContain(args[0]);
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    const help = await here('list', '--help');
    expect(help.code).toBe(0);
    expect(help.stdout.toString('utf8')).toMatch(/--category <text>[^]*Examples:/);
  });
});

describe('a bare command', () => {
  it.each([
    {
      args: ['architect', 'Review our plan.'],
      name: 'bmm/bmad-agent-architect',
      message: 'Review our plan.',
    },
    { args: ['architect', 'Review', 'our', 'plan.'], name: 'bmm/bmad-agent-architect', message: 'our plan.' },
    { args: ['*party-mode'], name: 'core/bmad-party-mode', message: undefined },
    { args: ['bmm/architect'], name: 'bmm/bmad-agent-architect', message: undefined },
    { args: ['Winston'], name: 'bmm/bmad-agent-architect', message: undefined },
  ])('bmad $args starts $name', async ({ args, name, message }) => {
    const { code, stdout } = await (args.length === 1 ? here : run)(...args);
    const text = stdout.toString('utf8');
    expect(code).toBe(0);
    expect(text.split('\n')[0]).toContain(name);
    expect(text.includes('## Message from the user')).toBe(message !== undefined);
    expect(text).toContain(message ?? '');
    const asData = await here(...args, '--json');
    expect(JSON.parse(asData.stdout.toString('utf8'))).toMatchObject({
      operation: 'execute',
      result: { name },
    });
  });
});

describe('bmad read', () => {
  it.each([
    ['architect', ARCHITECT],
    [`bmad://${ARCHITECT}`, ARCHITECT],
    [LARGE, LARGE],
    ['bmm/module-help.csv', 'bmm/module-help.csv'],
  ])('%s writes the file to stdout and nothing else', async (target, path) => {
    const { code, stdout, stderr } = await (target === LARGE ? run : here)('read', target);
    expect(code).toBe(0);
    expect(stdout.equals(await readFile(join(contentRoot, path)))).toBe(true);
    expect(stderr).toMatch(new RegExp(`^bmad://${path} `));
  });

  it('speaks on a line of its own about a file that does not end with one', async () => {
    const path = 'core/bmad-party-mode/references/party-memory.md';
    const { stdout, stderr } = await here('read', path);
    expect(stdout.equals(await readFile(join(contentRoot, path)))).toBe(true);
    expect(stdout.toString('utf8')).not.toMatch(/\n$/);
    expect(stderr).toMatch(new RegExp(`^\\nbmad://${path} `));
  });

  it('says nothing when the reader goes away early', async () => {
    const child = spawn(process.execPath, [cliFile, 'read', LARGE], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const errors: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
    const ended = once(child, 'close');
    child.stdout.destroy();
    expect((await ended)[0]).toBe(0);
    expect(errors.join('')).not.toMatch(/EPIPE|\n\s+at /);
  });
});

describe('the exit code', () => {
  /** What leads to the ends of the program: refused by commander, by the settings, by an operation. */
  const STARTED = new Set(['list --bogus', 'list --page-size abc', '', 'architct', 'read ../../etc/passwd']);

  it.each([
    [2, ['list', '--bogus'], "'--bogus'"],
    [2, ['list', '--limit', 'many'], "'many'"],
    [2, ['list', '--limit', '0'], '0'],
    [2, ['list', 'gadgets'], '"gadgets"'],
    [2, ['list', 'agents', 'too', 'many'], 'too many arguments'],
    [2, ['search'], "'query'"],
    [2, ['--bogus'], "'--bogus'"],
    [2, ['list', '--page-size', 'abc'], '"abc"'],
    [2, ['list', '--page-size'], '--page-size'],
    [2, ['list', '--project', '/does/not/exist'], '"/does/not/exist"'],
    [2, ['config', 'shw'], "'shw'"],
    [2, ['read', 'file:///etc/passwd'], 'file:///etc/passwd'],
    [2, [], 'Usage: bmad'],
    [3, ['execute', 'architct'], 'Did you mean: architect'],
    [3, ['architct'], 'Did you mean: architect'],
    [3, ['read', 'architct'], 'Did you mean: architect'],
    [3, ['read', `bmad://${ARCHITECT}x`], `Did you mean: bmad://${ARCHITECT}`],
    [3, ['read', 'architect', '--section', 'Overvew'], 'Did you mean: Overview'],
    [3, ['list', 'workflows', '--category', 'plann'], 'Did you mean: plan'],
    [3, ['lsit'], 'bmad list'],
    [4, ['read', '../../etc/passwd'], '"../../etc/passwd"'],
    [4, ['read', '/etc/passwd'], '"/etc/passwd"'],
    [4, ['read', 'bmad://../../package.json'], '"bmad://../../package.json"'],
    [4, ['read', 'bmad://bmm/%2e%2e/%2e%2e/package.json'], 'package.json'],
  ] as [number, string[], string][])('is %i for bmad %j, and stderr says why', async (code, args, why) => {
    const ended = await (STARTED.has(args.join(' ')) ? run : here)(...args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(why);
    expect(ended.stderr).not.toMatch(/\n\s+at /);
    expect(ended.stdout.toString('utf8')).toBe('');
  });

  it('comes with an error in JSON on demand', async () => {
    const { code, stdout, stderr } = await run('execute', 'architct', '--json');
    expect(code).toBe(3);
    expect(JSON.parse(stdout.toString('utf8'))).toMatchObject({
      error: { code: 'not_found', subject: 'architct', suggestions: ['architect', 'architecture'] },
    });
    expect(stderr).toBe('');
  });
});

describe('bmad-mcp-server', () => {
  it('has the version of the package, as bmad has', async () => {
    const texts = await Promise.all([run('--version'), server('--version')]);
    expect(texts.map(({ code, stdout }) => [code, stdout.toString('utf8')])).toEqual([
      [0, `${VERSION}\n`],
      [0, `${VERSION}\n`],
    ]);
  });

  it('tests itself in one line', async () => {
    const { code, stdout, stderr } = await server('--test');
    expect(code).toBe(0);
    expect(stdout.toString('utf8')).toMatch(/^[^\n]*tools? registered — [^\n]* — Ready\n$/);
    expect(stderr).toBe('');
  });

  it('says in its test that there is no content, and why (A-4)', async () => {
    const { stdout } = await server('--test', '--discovery=local');
    expect(stdout.toString('utf8')).toMatch(
      / registered — No BMAD content was found: discovery is "local", [^\n]*[^.] — project [^\n]* — Ready\n$/,
    );
  });

  it('prints a summary to stderr and serves', async () => {
    const { code, stdout, stderr } = await server('--summary');
    expect(code).toBe(0);
    expect(stdout.toString('utf8')).toBe('');
    expect(stderr).toMatch(/^[^\n]* tools registered — [^\n]* — Ready\n$/);
    expect(stderr).toContain(`— ${DEFAULT_TOOLS.length} tools`);
  });

  it.each([
    ['--nonsense', '--help lists all flags'],
    ['--tset', 'Did you mean: --test?'],
    ['--page-size=many', '"many"'],
  ])('ends with 2 for %s and says what to use', async (flag, why) => {
    const { code, stdout, stderr } = await server(flag);
    expect(code).toBe(2);
    expect(stderr).toContain(flag.split('=')[0] ?? '');
    expect(stderr).toContain(why);
    expect(stdout.toString('utf8')).toBe('');
  });
});
