import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { installOf } from '../../../tests/support/installs.ts';
import { runProgram } from './program.ts';

const folder = await installOf('6.0.4');
const home = await temporaryFolder(afterAll);

/** One command line in a project with 6.0.4, and what it printed. */
async function typed(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runProgram(args, () => contextIn(folder, { home }), {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    json: (text) => out.push(text),
    file: (text) => out.push(text) < 0,
    signal: new AbortController().signal,
    settingsHelp: () => '',
  });
  return { code, out: out.join(''), err: err.join('') };
}

describe('the command line', () => {
  it('shows how a command is used when it is not used like that', async () => {
    const usage = 'Usage: bmad task add [options] <agent> <task>\nbmad task add --help explains it.';
    expect(await typed('task', 'add', 'dev')).toEqual({
      code: 2,
      out: '',
      err: `error: missing required argument 'task'\n\n${usage}\n`,
    });
    const { out } = await typed('task', 'add', 'dev', '--json');
    expect(JSON.parse(out)).toMatchObject({
      error: { code: 'invalid_input', message: "missing required argument 'task'", hint: usage },
    });
    expect((await typed('list', '--wat')).err).toMatch(
      /^error: unknown option '--wat'\n\nUsage: bmad list \[options\] \[what\]\n/,
    );
  });

  it('takes the options of execute in the short form too', async () => {
    const head = ({ out }: { out: string }): string => /^# .*$/m.exec(out)?.[0] ?? '';
    expect(head(await typed('analyst'))).toMatch(/\(agent bmm\/analyst\)$/);
    expect(head(await typed('analyst', '--origin', 'package'))).toMatch(/\(agent bmm\/bmad-agent-analyst\)$/);
    const asked = await typed('analyst', 'Hello', 'there', '--module', 'bmm');
    expect(asked.out).toContain('\nHello there\n');
    expect((await typed('analyst', '--section', 'no such')).code).not.toBe(0);
  });

  it('takes the commands of bmad-mcp-server: the kind before the name, and the message with a flag', async () => {
    for (const flag of [
      ['--message', 'Create a form'],
      ['-m', 'Create a form'],
      ['--message=Create a form'],
    ]) {
      const { code, out } = await typed('execute', 'agent', 'dev', ...flag);
      expect([code, /^# .*$/m.exec(out)?.[0]]).toEqual([0, expect.stringMatching(/\(agent bmm\/dev\)$/)]);
      expect(out).toContain('\nCreate a form\n');
    }
    const { out } = await typed('execute', 'workflow', 'sprint-planning', '--json');
    expect(JSON.parse(out)).toMatchObject({ name: 'bmm/sprint-planning', kind: 'workflow' });
    expect((await typed('read', 'agent', 'analyst')).out).toContain('<agent id=');
    expect((await typed('read', 'workflow', 'sprint-planning')).out).toContain('name: sprint-planning');
  });
});
