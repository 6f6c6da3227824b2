import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { desktopBundle } from '../../scripts/packages/mcpb.ts';
import { LARGEST } from '../../scripts/packages/parts.ts';
import { readProduct } from '../../scripts/packages/product.ts';
import { serverFiles } from '../../scripts/packages/server-files.ts';
import { zipped } from '../../scripts/packages/zip.ts';
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

  /** What a real bash offers behind these words. */
  async function offered(...words: readonly string[]): Promise<string[]> {
    const typed = ['bmad', ...words].map((word) => `'${word}'`).join(' ');
    const script = `${completionScript('bash')}
bmad() { case "$2" in agents) echo 'architect, dev' ;; *) echo 'prd' ;; esac; }
COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _bmad_completion; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { code, stdout, stderr } = await runToEnd('bash', ['-c', script], {
      cwd: await home,
      env: bareEnvironment(await home),
    });
    expect([code, stderr]).toEqual([0, '']);
    return stdout.toString('utf8').trim().split('\n');
  }

  it.runIf(process.platform !== 'win32')('offers commands, options and names in a real bash', async () => {
    expect(await offered('exec')).toEqual(['execute']);
    expect(await offered('run', 'op')).toEqual(['open']);
    expect(await offered('run', 'open', '--br')).toEqual(['--branch']);
    expect(await offered('completion', '')).toEqual([...SHELLS].sort());
    expect(await offered('execute', 'arch')).toEqual(['architect']);
    expect(await offered('list', 'agents', '--mod')).toEqual(['--module']);
  });

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
