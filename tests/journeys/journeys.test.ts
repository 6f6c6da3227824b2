import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { walk, type Journey } from '../support/journey.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { progressProject } from '../support/progress-project.ts';
import type { Version } from '../support/installs.ts';
import { EMPTY_FOLDER } from './empty-folder.ts';
import { KIT_IN_FRENCH } from './kit-in-french.ts';
import { SIX_ZERO_FOUR } from './six-zero-four.ts';
import { VERSION_FOUR } from './version-four.ts';

async function emptyFolder(): Promise<string> {
  const folder = join(await temporaryFolder(onTestFinished), 'project');
  await mkdir(folder);
  return folder;
}

async function kitProject(): Promise<string> {
  const folder = await emptyFolder();
  await writeFiles(folder, {
    ...KIT_FILES,
    'project-context.yaml':
      'project:\n  name: "Corner Shop"\nuser:\n  name: "Ada Field"\n  language: "Français"\n',
  });
  return folder;
}

const withInstall = (version: Version) => async (): Promise<string> =>
  (await progressProject(onTestFinished, version)).folder;

const JOURNEYS: readonly [Journey, () => Promise<string>][] = [
  [EMPTY_FOLDER, emptyFolder],
  [KIT_IN_FRENCH, kitProject],
  [SIX_ZERO_FOUR, withInstall('6.0.4')],
  [VERSION_FOUR, withInstall('4.44.3')],
];

describe('the journey', () => {
  it.each(JOURNEYS.map(([journey, folder]) => ({ ...journey, journey, folder })))(
    '$name',
    async ({ journey, folder }) => {
      const home = join(await temporaryFolder(onTestFinished), 'home');
      const { wrong, tokens, table } = await walk(journey, await folder(), home);
      expect(wrong, table.join('\n')).toEqual([]);
      expect(tokens).toBeLessThanOrEqual(journey.tokens);
    },
  );
});
