import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { configShow } from '../../src/operations/server/config-show.ts';
import { activate } from '../../src/operations/activation/activate.ts';
import { execute } from '../../src/operations/execute.ts';

describe('secrets of the environment', () => {
  it('never come out, and the working folder is none of them', async () => {
    const folder = await temporaryFolder(afterAll);
    const context = await contextIn(folder, {
      env: { PWD: folder, OLDPWD: folder, GITHUB_TOKEN: 'ghp_abcdef123456', HOME: folder },
    });
    const shown = await execute(configShow, {}, context, testCall());
    expect(JSON.stringify(shown)).toContain(folder);
    const answer = await execute(
      activate,
      { name: 'dev', message: 'use ghp_abcdef123456 please' },
      context,
      testCall(),
    );
    expect(JSON.stringify(answer)).not.toContain('ghp_abcdef123456');
    expect(JSON.stringify(answer)).toContain('use *** please');
  });
});

describe('the file of a project', () => {
  it('cannot point the server to other folders', async () => {
    const folder = await temporaryFolder(afterAll);
    const outside = await temporaryFolder(afterAll);
    await writeFile(
      join(folder, 'bmad-mcp.toml'),
      `paths = ["${outside}"]\nroot = "${outside}"\nproject = "${outside}"\npage_size = 7\n`,
    );
    const context = await contextIn(folder);
    expect(context.config).toMatchObject({ paths: [], pageSize: 7 });
    expect(context.config.root).toBeUndefined();
    expect((await context.workspace()).project.root).toBe(folder);
    expect(context.configWarnings.map((warning) => /"(\w+)" is ignored/.exec(warning)?.[1])).toEqual([
      'project',
      'paths',
      'root',
    ]);
  });
});
