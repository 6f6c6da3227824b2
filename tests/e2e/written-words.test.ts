import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { englishIn } from '../support/half-french.ts';
import { startHttpServer } from '../support/http-server.ts';
import { bmadHere } from '../support/command-line.ts';
import { bareEnvironment, bmad } from '../support/programs.ts';

/** Sentences that the program says too, each with a French text of its own. */
const ALL_DONE = 'All stories are done; what follows is optional.';
const NOTHING = 'Nothing waits for a person.';

describe('what people wrote, at a terminal that speaks French', () => {
  it('stays as it is, and has no marks in it (Q-O1)', async () => {
    const cwd = await temporaryFolder(onTestFinished);
    const home = await temporaryFolder(onTestFinished);
    await writeFiles(cwd, { '_bmad/_memory/decisions-log.md': '', '_bmad/_memory/handoff-log.md': '' });
    const run = async (...args: string[]): Promise<string> => {
      const env = bareEnvironment(home, { BMAD_LANG: 'fr' });
      // The list is asked of the program; the others are the same words by the same way.
      const { stdout, stderr } = await (args[1] === 'list' ? bmad : bmadHere)(args, { cwd, env });
      const said = stdout.toString('utf8') + stderr;
      expect(said).not.toMatch(/[\uFDD0\uFDD1\u{F0000}-\u{10FFFF}]/u);
      return said;
    };
    await run('memory', 'remember', 'decisions', 'dev', ALL_DONE);
    await run('memory', 'remember', 'decisions', 'dev', NOTHING);
    for (const list of [await run('memory', 'list'), await run('memory', 'recall', 'stories person')]) {
      expect(list).toContain(ALL_DONE);
      expect(list).toContain(NOTHING);
    }
    await run('log', 'handoff', 'dev', 'architect', NOTHING, '--inbox');
    for (const command of ['next', 'inbox']) expect(await run(command)).toContain(NOTHING);
    const added = await run('task', 'add', 'dev', ALL_DONE, '--output-key', 'out');
    expect(added).toContain(ALL_DONE);
    const id = /task-[\w-]+/.exec(added)?.[0] ?? '';
    const [head = ''] = (await run('task', 'show', id)).split('\n');
    expect(head).toContain(ALL_DONE);
    // What the program itself says is French all the same.
    expect(await run('run', 'list')).not.toContain('There are no');
  });
});

describe('what the programs say in French', () => {
  const place = async (): Promise<{ cwd: string; home: string }> => {
    const home = await temporaryFolder(onTestFinished);
    const cwd = `${home}/boutique`;
    await writeFiles(home, {
      'boutique/_bmad/core/config.yaml': 'user_name: Ada\n',
      '.config/bmad-mcp-server/config.toml':
        'git = ["git+https://example.com/a/b.git#main"]\nno_such_key = 1\n',
    });
    return { cwd, home };
  };

  it('is no sentence with English words in it, whatever was read before the language was known (B-06)', async () => {
    const { cwd, home } = await place();
    const env = bareEnvironment(home, { BMAD_LANG: '', LANG: 'fr_FR.UTF-8', BMAD_LOG_LEVEL: 'error' });
    for (const args of [
      ['sources', 'list'],
      ['config', 'show'],
      ['doctor', '--no-handshake'],
    ]) {
      const { stdout, stderr } = await bmad(args, { cwd, env });
      expect(englishIn(stdout.toString('utf8') + stderr)).toEqual([]);
    }
  });

  it('is French at the start of a server too', async () => {
    const server = await startHttpServer({
      ...(await place()),
      env: { BMAD_LANG: '', LANG: 'fr_FR.UTF-8', BMAD_LOG_LEVEL: 'error' },
    });
    await server.stop();
    expect(server.stderr()).toContain('boutique');
    expect(englishIn(server.stderr())).toEqual([]);
  });
});
