import { expect, it } from 'vitest';
import { measuredFigures } from '../../scripts/docs-run/story.ts';
import { RECORDINGS, recorded } from '../../scripts/pictures/recordings.ts';
import { pageBrought, pagesToRun, readPage } from '../../scripts/docs-run/pages.ts';

const figures = await measuredFigures();

// Documents show the paths of a Unix machine.
it.skipIf(process.platform === 'win32').each(await pagesToRun())(
  '%s shows what the programs do',
  async (page) => {
    const text = await readPage(page);
    // Pages are written from programs. To start one for each of their commands again would take half a minute of a core.
    const how = page === 'README.md' ? 'programs' : 'here';
    expect(await pageBrought(text, figures, true, how), 'npm run docs writes it').toBe(text);
  },
);

it.skipIf(process.platform === 'win32').each(RECORDINGS)(
  '$file shows what a terminal does',
  async (recording) => {
    expect(await recorded(recording, 'here'), 'npm run docs writes it').toBe(await readPage(recording.file));
  },
);
