import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cliFile, repository, serverFile, temporaryFolder } from '../support/app.ts';
import { bareEnvironment, runToEnd } from '../support/programs.ts';
import { nodeOf } from '../support/tools.ts';
import { some } from '../support/how-much.ts';

/** The oldest is from before what the programs are written in could be parsed at all; npm has it for Linux alone. */
const OLD = [...(process.platform === 'linux' ? ['10.18.1'] : []), '16.20.2', '20.18.1'];

describe.each(some(1, OLD))('Node %s, which is too old', (version) => {
  it('is told so by both programs and the library, in one sentence and on stderr (B-02)', async () => {
    const node = await nodeOf(version);
    const cwd = await temporaryFolder(onTestFinished);
    const env = bareEnvironment(cwd);
    const sentence = `BMAD MCP Server needs Node.js 20.19 or later, and this is Node.js ${version} (${node}).`;
    for (const file of [cliFile, serverFile]) {
      const { code, stdout, stderr } = await runToEnd(node, [file, '--version'], { cwd, env });
      expect([code, stdout.toString(), stderr]).toEqual([1, '', `${sentence}\n`]);
    }
    const library = await runToEnd(node, [join(repository, 'dist/library.cjs')], { cwd, env });
    expect(library.code).toBe(1);
    expect(library.stderr).toContain(`Error: ${sentence}`);
  });
});
