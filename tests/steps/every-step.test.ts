import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { isDeep, some } from '../support/how-much.ts';
import { installOf } from '../support/installs.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { RUN_FILES } from '../support/run-project.ts';
import { modelSurface, programSurface, requestSurface, terminalSurface } from '../support/steps/surfaces.ts';
import { SAMPLE_EXPORT } from '../support/steps/samples.ts';
import { emptySweep, sweep, takeSteps, type Swept } from '../support/steps/sweep.ts';
import { copyFolder } from '../support/folders.ts';

// A step that an answer or an error recommends is taken as it was printed, where it was printed. None may lead nowhere:
// to a call that is not understood, or to nothing (M-33, M-34).

/** The projects, each made anew. */
const PROJECTS: Record<string, () => Promise<string>> = {
  async 'an empty project'() {
    const folder = await temporaryFolder(onTestFinished);
    await writeFiles(folder, { 'sample.jsonl': SAMPLE_EXPORT });
    return folder;
  },
  async 'a project with 6.12 in it'() {
    const folder = await temporaryFolder(onTestFinished);
    copyFolder(await installOf('6.12.0'), folder);
    await writeFiles(folder, { 'sample.jsonl': SAMPLE_EXPORT });
    return folder;
  },
  async 'a kit project in use'() {
    const folder = await temporaryFolder(onTestFinished);
    await writeFiles(folder, { ...KIT_FILES, ...RUN_FILES, 'sample.jsonl': SAMPLE_EXPORT });
    return folder;
  },
};

/** What is wrong with a sweep: steps that led nowhere, and too few to say anything. */
function wrongWith({ asked, taken, nowhere }: Swept, least: number): string[] {
  const few =
    asked === 0 || taken.size < least ? [`only ${taken.size} kinds of steps in ${asked} answers`] : [];
  return [...nowhere, ...few];
}

/** How a step is written hangs on the surface, not on the project: the one with most in it is enough in a usual run. */
const FULLEST = 'a kit project in use';
const tried = Object.entries(PROJECTS).filter(([title]) => isDeep || title === FULLEST);

describe.each(tried)('in %s, every step leads somewhere', (title, project) => {
  // What a narrow set of tools can say does not hang on the project.
  const narrow = title === FULLEST ? some(1, ['workflows', 'agents', 'project'] as const) : [];
  const other = isDeep ? [['bmad', 5] as const] : [];
  it.each([[undefined, 15] as const, ...other, ...narrow.map((one) => [one, 1] as const)])(
    'over MCP with the toolsets %j',
    async (toolsets, least) => {
      const surface = await modelSurface(await project(), onTestFinished, { toolsets });
      // What is said of a wrong argument is the same everywhere; what is not there hangs on the project.
      const briefly = toolsets !== undefined || !title.includes('6.12');
      expect(wrongWith(await sweep(surface, { briefly }), least)).toEqual([]);
    },
  );

  it('at the command line', async () => {
    const surface = await terminalSurface(await project(), onTestFinished);
    expect(wrongWith(await sweep(surface, { briefly: true }), 15)).toEqual([]);
  });

  it('over HTTP', async () => {
    const surface = await requestSurface(await project(), onTestFinished);
    expect(wrongWith(await sweep(surface, { briefly: true }), 10)).toEqual([]);
  });

  it('in the library', async () => {
    const library = await programSurface(await project(), onTestFinished);
    const swept = emptySweep();
    for (const [name, given] of [
      ['loadAgent', 'nobody'],
      ['loadAgent', ''],
      ['loadAgent', 'prd'],
      ['loadWorkflow', 'nothing'],
      ['loadFile', 'no/such/file.md'],
      ['loadFile', '../x'],
      ['loadFile', 'core'],
      ['search', ''],
      ['activate', 'nobody'],
      ['activate', 'architect'],
      ['activate', 'prd'],
      ['activate', '..'],
    ] as const) {
      swept.asked += 1;
      await takeSteps(
        library,
        await library.printed(name, [given]),
        `${name}(${JSON.stringify(given)})`,
        swept,
      );
    }
    expect(wrongWith(swept, 3)).toEqual([]);
  });
});
