import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { desktopBundle } from '../../scripts/packages/others.ts';
import { LARGEST, readProduct, serverFiles, zipped } from '../../scripts/packages/product.ts';
import { completionScript, SHELLS } from '../../src/surfaces/cli/completion.ts';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { LineClient } from '../support/line-client.ts';
import { bareEnvironment, bmad, runToEnd } from '../support/programs.ts';
import { unzipped } from '../support/unzipped.ts';

describe('the bundle for Claude Desktop', () => {
  it('starts from its parts and lists its tools, and is unpacked once', async () => {
    const [folder, home] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
    const files = unzipped(zipped(await desktopBundle(await readProduct(), await serverFiles())));
    for (const [path, bytes] of files) expect(bytes.length, path).toBeLessThanOrEqual(LARGEST);
    await writeFiles(folder, Object.fromEntries(files));
    for (const time of [1, 2]) {
      const client = await LineClient.connect({
        cwd: home,
        home,
        env: { XDG_CACHE_HOME: join(home, 'cache') },
        program: join(folder, 'server', 'start.cjs'),
      });
      const { result } = await client.request('tools/list', {});
      expect(JSON.stringify(result), `start ${time}`).toContain('"name":"bmad"');
      const answer = await client.callTool({ operation: 'execute', agent: 'tea' });
      expect(JSON.stringify(answer.result)).toContain('Master Test Architect');
      client.child.stdin.end();
      await client.ended;
    }
    const kept = await readdir(join(home, 'cache', 'bmad-mcp-server', 'desktop'));
    expect(kept).toHaveLength(1);
  });
});

describe('completion', () => {
  const home = temporaryFolder(afterAll);

  /** What is typed, and what is offered for it; the names of agents and workflows are those of the stand-in below. */
  const OFFERED: readonly (readonly [typed: string, ...offered: string[]])[] = [
    ['exec', 'execute'],
    ['run op', 'open'],
    ['run open --br', '--branch'],
    ['completion ', ...[...SHELLS].sort()],
    ['execute arch', 'architect'],
    ['list agents --mod', '--module'],
    ['memory list --que'],
  ];
  const STAND_IN = 'case "$2" in agents) echo "architect, dev" ;; *) echo prd ;; esac';

  /** A script for each shell that prints what it offers, a line for each row: with the shell's own engine where it can be asked. */
  const SCRIPTS: Readonly<Record<string, (typed: readonly (readonly string[])[]) => string>> = {
    bash: (typed) => `bmad() { ${STAND_IN}; }
${typed.map((words) => `COMP_WORDS=(bmad ${quotedAll(words)}); COMP_CWORD=${words.length}; _bmad_completion; echo "\${COMPREPLY[*]}"`).join('\n')}`,
    zsh: (typed) => `bmad() { ${STAND_IN}; }
compadd() { shift; print -r -- "\${(@M)@:#$words[CURRENT]*}"; }
${typed.map((words) => `words=(bmad ${quotedAll(words)}); CURRENT=${words.length + 1}; _bmad_completion`).join('\n')}`,
    fish: (
      typed,
    ) => `function bmad; if test "$argv[2]" = agents; echo 'architect, dev'; else; echo prd; end; end
${typed.map((words) => `echo (complete -C ${quotedAll([['bmad', ...words].join(' ')])})`).join('\n')}`,
  };
  const quotedAll = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ');

  it.each(['bash', 'zsh', 'fish'] as const)(
    'offers commands, options and names in a real %s',
    async (shell) => {
      const there = await runToEnd('sh', ['-c', `command -v ${shell}`], {
        cwd: await home,
        env: bareEnvironment(await home),
      }).catch(() => undefined);
      if (there?.code !== 0) return;
      const setup = shell === 'zsh' ? 'compdef() { :; }\n' : '';
      const script = SCRIPTS[shell]?.(OFFERED.map(([typed]) => typed.split(' '))) ?? '';
      const { code, stdout, stderr } = await runToEnd(
        shell,
        ['-c', `${setup}${completionScript(shell)}\n${script}`],
        { cwd: await home, env: bareEnvironment(await home) },
      );
      expect([code, stderr]).toEqual([0, '']);
      const lines = stdout.toString('utf8').trimEnd().split('\n');
      expect(OFFERED.map(([typed], at) => [typed, ...(lines[at] ?? '').split(' ').filter(Boolean)])).toEqual(
        OFFERED,
      );
    },
  );

  it('is printed by the program, for each shell, and refused for others', async () => {
    const cwd = await home;
    const env = bareEnvironment(cwd);
    expect((await bmad(['completion', 'bash'], { cwd, env })).stdout.toString('utf8')).toBe(
      completionScript('bash'),
    );
    const refused = await bmad(['completion', 'csh'], { cwd, env });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('There is no completion for "csh".');
    for (const shell of SHELLS) expect(completionScript(shell)).toContain('execute');
  });
});
