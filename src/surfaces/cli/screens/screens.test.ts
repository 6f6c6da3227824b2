import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../../tests/support/app.ts';
import { writeFiles } from '../../../../tests/support/folders.ts';
import { bmadHere } from '../../../../tests/support/command-line.ts';
import { lineWidth } from '../screen/text.ts';
import { COMMANDS } from '../commands.prepared.ts';
import { answerLines, SCREENS as DRAWN } from './index.ts';
import { textOf } from '../screen/paint.ts';

const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);
const env = { HOME: home, PATH: process.env['PATH'] ?? '', NO_COLOR: '1', BMAD_EMBEDDER: 'none' };
const on = (columns: number, ...args: string[]) =>
  bmadHere([...args, '--project', cwd], { cwd, env, terminal: true, columns });
const piped = (...args: string[]) => bmadHere([...args, '--project', cwd], { cwd, env });

beforeAll(async () => {
  await piped('memory', 'remember', 'decisions', 'architect', 'Use PostgreSQL for **orders**: 注文 and עגלה');
  await piped('task', 'add', 'dev', 'Write the tests for the cart', '--output-key', 'cart_tests');
  await piped('run', 'open', 'prd');
  await piped('contract', 'run');
});

/** The first lines of what a person sees at the commands whose answers are drawn. */
const SCREENS: [args: string[], shows: RegExp][] = [
  [['list', 'agents'], /^ {4}name {9}who {6}what for +module\n📊 {2}analyst {6}Mary {5}Business analyst/],
  [
    ['list', 'workflows'],
    /^name +what for +module\nPlan\narchitecture +Work out.*\n[^]*\nShip\nbuild +Turns[^]*\nAnytime\n/,
  ],
  [['search', 'architecture'], /^name +kind +what for +.*\narchitecture +workflow +Work out/],
  [['explain', 'architect'], /^architect {2}record\n└─ ✓ bmm\/bmad-agent-architect {2}agent from BMAD/],
  [
    ['next'],
    /^Analysis {8}░{10} {2}not started\nPlanning {8}█{5}░{5} {2}in progress\n[^]*\nNext\n1\. Resume run bmad-prd/,
  ],
  [['doctor', '--no-handshake'], /^BMAD MCP Server .*\n\n✓ Project +\/.*\n(?: .*\n)*✓ Modules +bmm/],
  [
    ['memory', 'list'],
    /^type +agent +memory +changed\ndecisions +architect +Use PostgreSQL[^]*\n {2}[0-9a-f-]{36}\n/,
  ],
  [['memory', 'recall', 'PostgreSQL'], /^type +agent +memory +changed/],
  [['task', 'list'], /^status +agent +task +.*\nqueued +dev +Write the tests/],
  [['run', 'status'], /^run +status +progress +.*\nbmad-prd-\d+-\d+-[0-9a-f]{6} +running +░{8} {2}0/],
  [['contract', 'receipts'], /^ +receipt +verdict +.*took +when\n!/],
  [['session', 'list'], /^ +branch +standing +purpose +runs +.*\n● +main +active/],
];

describe('the screens of the command line', () => {
  it.each(SCREENS)('draw %j from its data, within 80 columns', async (args, shows) => {
    const { code, stdout, stderr } = await on(80, ...args);
    const text = stdout.toString('utf8');
    expect(code, stderr).toBe(0);
    expect(text).toMatch(shows);
    expect(text + stderr).not.toMatch(/\*\*|\|---|tokens/);
    for (const each of text.split('\n')) expect(lineWidth([{ text: each }]), each).toBeLessThanOrEqual(80);
  });

  it('name under each entry of the inbox what can be done with it, in a pipe as well, at the local time', async () => {
    const own = await temporaryFolder(afterAll);
    vi.stubEnv('TZ', 'Asia/Tokyo');
    onTestFinished(() => void vi.unstubAllEnvs());
    const inOwn = (terminal: boolean, ...args: string[]) =>
      bmadHere([...args, '--project', own], { cwd: own, env, terminal, columns: 100 });
    for (const word of ['carts', 'orders'])
      await inOwn(
        false,
        'task',
        'add',
        'dev',
        `Delete the ${word}`,
        '--output-key',
        word,
        '--needs-approval',
        'It deletes data',
      );
    for (const terminal of [false, true]) {
      const { stdout, stderr } = await inOwn(terminal, 'inbox');
      const lines = stdout.toString('utf8').split('\n');
      for (const word of ['carts', 'orders']) {
        const at = lines.findIndex((line) => line.includes(`Approve: Delete the ${word}`));
        expect(lines.slice(at + 1, at + 4).join('\n')).toMatch(
          /It deletes data[^]*bmad task approve task-\S+ --digest \S+\n +Refuse: bmad task refuse task-\S+ …/,
        );
      }
      expect(stderr).not.toContain('bmad task');
    }
    const { stdout } = await inOwn(false, 'activity');
    const there = new Intl.DateTimeFormat('en-GB', { timeZone: 'Asia/Tokyo', hour: '2-digit' });
    expect(stdout.toString('utf8')).toMatch(
      new RegExp(`- (?:\\S+ )?${there.format(new Date())}:\\d\\d Task queued`),
    );
  });

  it('show the hosts that the doctor was asked about, and the change of a host’s file (N-01)', async () => {
    await writeFiles(home, { '.cursor/mcp.json': '{ "mcpServers": { "other": { "command": "true" } } }\n' });
    const before = (await on(80, 'doctor', '--hosts', '--no-handshake')).stdout.toString('utf8');
    expect(before).toMatch(/\nHosts\n! Cursor \(user\): not connected\n {2}\/.*mcp\.json/);
    const dry = (await on(80, 'setup', 'cursor', '--dry-run')).stdout.toString('utf8');
    expect(dry).toMatch(/\n +@@ -1,1 \+1,1 @@\n +-\{.*\n +\+\{.*"bmad": \{/);
  });

  /** What is asked of each that is drawn; without one, its command alone. */
  const ASKED: Readonly<Partial<Record<string, readonly string[]>>> = {
    search: ['search', 'architecture'],
    explain: ['explain', 'architect'],
    doctor: ['doctor', '--no-handshake', '--hosts', '--cache'],
    recall_structured: ['memory', 'recall', 'PostgreSQL'],
    setup: ['setup', 'kiro', '--scope', 'project'],
    remove: ['remove', 'kiro', '--yes'],
  };
  /** What a screen says in another way. */
  const DRAWN_AS: Readonly<Partial<Record<string, string>>> = {
    Folder: 'kept in',
    'Current session branch': '●',
  };
  it.each(Object.keys(DRAWN))('show every part that a pipe is told of: %s (N-01)', async (operation) => {
    const command = COMMANDS.find((each) => each.operation === operation)?.command ?? '';
    const args = ASKED[operation] ?? command.split(' ');
    const told = (await piped(...args)).stdout.toString('utf8');
    // What was removed is there to be removed again.
    if (operation === 'remove') await piped('setup', 'kiro', '--scope', 'project');
    const shown = (await on(100, ...args)).screen.toLowerCase();
    // A part has a title of its own, or begins a line with its name.
    const titles = [...told.matchAll(/^(?:#+ )?(\p{Lu}[\p{L} ]{2,30}):(?: |$)/gmu)].map(
      ([, title = '']) => title,
    );
    for (const title of titles) expect(shown, title).toContain(DRAWN_AS[title] ?? title.toLowerCase());
  });

  it('fit 20 columns and 400, and say the same in them', async () => {
    for (const columns of [20, 400])
      for (const [args] of SCREENS) {
        const { code, stdout } = await on(columns, ...args);
        expect(code).toBe(0);
        for (const each of stdout.toString('utf8').split('\n'))
          // A command is never broken, because it is copied.
          if (!each.includes('bmad ')) expect(lineWidth([{ text: each }]), each).toBeLessThanOrEqual(columns);
      }
  });

  it('leave what goes to a pipe as it is, and count no tokens', async () => {
    const { stdout, stderr } = await piped('list', 'agents', '--limit', '1');
    expect(stdout.toString('utf8')).toMatch(/^- \*\*analyst\*\* Mary 📊 Business Analyst \(bmm\): /);
    expect(stderr).toMatch(/^agents 1 to 1 of 5\.[^]*\nRead the next part: bmad list --limit 1 --cursor/);
    const coloured = await piped('list', 'agents', '--color');
    expect(coloured.stdout.toString('utf8')).toContain('\u001B[36manalyst\u001B[39m');
  });

  it('show a file as it is where it is asked for, and its Markdown otherwise', async () => {
    const drawn = (await on(80, 'read', 'architect')).stdout.toString('utf8');
    expect(drawn).not.toMatch(/^#|\*\*/m);
    const raw = (await on(80, 'read', 'architect', '--raw')).stdout.toString('utf8');
    expect(raw).toMatch(/^# /m);
  });

  it('show errors with what can be done about them', async () => {
    const { code, stderr } = await on(80, 'read', 'architekt-of-nothing');
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/^✗ /);
    expect(stderr).toMatch(/^→ .*bmad /m);
  });

  it('take ten thousand rows of one list', () => {
    const item = {
      kind: 'task',
      module: 'bmm',
      description: 'Does something useful. Use it.',
      origin: 'Project',
    };
    const items = Array.from({ length: 10_000 }, (_item, at) => ({ ...item, name: `task-${at}` }));
    const lines = answerLines(
      'list',
      { what: 'tasks', detail: 'standard', items },
      { body: '' },
      { width: 80 },
    );
    expect(lines).toHaveLength(10_001);
    expect(textOf(lines.at(-1) ?? [])).toContain('task-9999');
  });
});
