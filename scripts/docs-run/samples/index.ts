import { join } from 'node:path';
import { copyFolder, writeFiles } from '../../../tests/support/folders.ts';
import { installOf, type Version } from '../../../tests/support/installs.ts';
import { RUN_FILES } from '../../../tests/support/run-project.ts';
import type { Preparation } from '../sample.ts';
import { code } from './code.ts';
import { folders } from './folders.ts';
import { kit } from './kit.ts';
import { model } from './model.ts';
import { PLANNED, PLANNED_4 } from './planned.ts';
import { team } from './team.ts';

/** A real install of BMAD in the project, without what belongs to other assistants. */
const installed =
  (version: Version, ...places: string[]): Preparation =>
  async ({ project }) => {
    const install = await installOf(version);
    for (const place of places) copyFolder(join(install, place), join(project, place));
  };

const written =
  (files: Readonly<Record<string, string>>): Preparation =>
  ({ project }) =>
    writeFiles(project, files);

const inOrder =
  (...preparations: Preparation[]): Preparation =>
  async (sample) => {
    for (const prepare of preparations) await prepare(sample);
  };

const v6 = installed('6.12.0', '_bmad', '.claude');
const v4 = installed('4.44.3', '.bmad-core');

/** The prepared projects that markers name with `in=`. */
export const SAMPLES: Readonly<Record<string, Preparation>> = {
  /** A folder with nothing in it: the built-in BMAD is served. */
  empty: () => undefined,
  '6.12': v6,
  '6.0': installed('6.0.4', '_bmad', '.claude'),
  '6.0-alpha': installed('6.0.0-alpha.22', '_bmad', '.claude'),
  '4.44.3': v4,
  '4-and-6.12': inOrder(v4, v6),
  /** A little shop in TypeScript, with a script for the completion contract. */
  code,
  /** The little shop, with a client that offers its model. */
  sampling: inOrder(code, model),
  /** A project of BMAD's custom kit, after some use. */
  kit,
  /** A repository of the team, under its usual address. */
  team,
  /** BMAD in the project, and a git source of the user. */
  configured: inOrder(v6, team, ({ home }) =>
    writeFiles(home, {
      '.config/bmad-mcp-server/config.toml': 'git = ["git+https://github.com/acme/bmad-team.git#main"]\n',
    }),
  ),
  /** Folders beside the project: agents, skills, a marketplace. */
  folders: inOrder(folders, async ({ home }) => {
    const install = await installOf('6.12.0');
    for (const place of ['_bmad', '.claude']) copyFolder(join(install, place), join(home, 'full', place));
  }),
  /** A project that only overrides the built-in BMAD. */
  custom: () => undefined,
  /** Two agents of one name. */
  guides: written({
    '_bmad/cis/agents/guide.md': '---\nname: guide\ndescription: Guide of cis\n---\n\nYou guide.\n',
    '_bmad/bmm/agents/guide.md': '---\nname: guide\ndescription: Guide of bmm\n---\n\nYou guide.\n',
  }),
  /** Runs as an assistant keeps them by the kit's own instructions. */
  runs: written(RUN_FILES),
  planned: inOrder(v6, written(PLANNED)),
  'planned-4': inOrder(v4, written(PLANNED_4)),
};
