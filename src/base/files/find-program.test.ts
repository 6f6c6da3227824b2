import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join, relative } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { findForProject, findNamed, findProgram, programsBesides } from './find-program.ts';

let home: string;
let project: string;
let mine: string;

/** An executable file; answers with its folder. */
async function program(place: string): Promise<string> {
  await mkdir(dirname(place), { recursive: true });
  await writeFile(place, '#!/bin/sh\n', { mode: 0o755 });
  return dirname(place);
}

const envOf = (...folders: string[]) => ({ HOME: home, PATH: folders.join(delimiter) });
const find = (...folders: string[]) => findProgram('tool', { env: envOf(...folders), besides: [project] });

beforeEach(async () => {
  const folder = await realpath(await temporaryFolder((cleanUp) => onTestFinished(cleanUp)));
  home = join(folder, 'home');
  project = join(home, 'code/project');
  await mkdir(project, { recursive: true });
  mine = await program(join(home, 'bin/tool'));
});

describe.runIf(process.platform !== 'win32')('a program', () => {
  it('is never one of the project, wherever the PATH begins (X-10)', async () => {
    const linked = join(home, 'links');
    await mkdir(linked);
    const places = [
      await program(join(project, 'tool')),
      await program(join(project, 'bin/tool')),
      await program(join(project, '.venv/bin/tool')),
      await program(join(home, 'code/node_modules/.bin/tool')),
    ];
    await symlink(join(project, 'bin'), join(linked, 'folder'));
    await mkdir(join(linked, 'files'));
    await symlink(join(project, 'bin/tool'), join(linked, 'files/tool'));
    await symlink(project, join(linked, 'project'));
    const others = [join(linked, 'folder'), join(linked, 'files'), join(linked, 'project/bin')];
    const relatives = ['', '.', 'bin', relative(process.cwd(), join(project, 'bin'))];
    for (const first of [...places, ...others, ...relatives])
      expect(await find(first, mine), first).toBe(join(mine, 'tool'));
    expect(await find(...places, ...others, ...relatives)).toBeUndefined();
    // The project may be named by a link as well.
    const lookout = { env: envOf(join(project, 'bin'), mine), besides: [join(linked, 'project')] };
    expect(await findProgram('tool', lookout)).toBe(join(mine, 'tool'));
  });

  it('is never one of the repository that the project is a part of (X-10)', async () => {
    const bin = await program(join(home, 'code/bin/tool'));
    expect(await find(bin, mine)).toBe(join(bin, 'tool'));
    await mkdir(join(home, 'code/.git'));
    expect(await find(bin, mine)).toBe(join(mine, 'tool'));
    // A home folder that is a repository has programs of the user's.
    await mkdir(join(home, '.git'));
    expect(await find(bin, mine)).toBe(join(mine, 'tool'));
    expect(await findProgram('tool', { env: envOf(mine), besides: [home, '/'] })).toBe(join(mine, 'tool'));
  });

  it('is never one of the folder that this process works in (X-02)', async () => {
    const here = process.cwd();
    onTestFinished(() => process.chdir(here));
    const bin = await program(join(project, 'bin/tool'));
    process.chdir(project);
    expect(await findProgram('tool', { env: envOf(bin, mine), besides: [] })).toBe(join(mine, 'tool'));
  });

  it('may be a link into a package, as npm installs its programs for all projects', async () => {
    const installed = await program(join(home, 'lib/node_modules/tool/tool'));
    await symlink(join(installed, 'tool'), join(mine, 'other'));
    const lookout = { env: envOf(mine), besides: [project] };
    expect(await findProgram('other', lookout)).toBe(join(mine, 'other'));
  });

  it('finds others by a PATH that has no folder of the project on it (X-10)', async () => {
    const bin = await program(join(project, 'bin/tool'));
    const { env } = await programsBesides({
      env: { ...envOf(bin, '', 'bin', mine), A: 'b' },
      besides: [project],
    });
    expect(env).toEqual({ HOME: home, PATH: mine, A: 'b' });
  });

  it('of a person is looked for in the same way, unless it is named by its path', async () => {
    const bin = await program(join(project, 'bin/tool'));
    const lookout = { env: envOf(bin, mine), besides: [project] };
    expect(await findNamed('tool', lookout)).toBe(join(mine, 'tool'));
    expect(await findNamed(join(bin, 'tool'), lookout)).toBe(join(bin, 'tool'));
    await expect(findNamed('./bin/tool', { ...lookout, env: envOf(project) })).rejects.toThrow('(ENOENT)');
    expect(await findForProject('tool', envOf(bin, mine))).toBe(join(bin, 'tool'));
  });
});
