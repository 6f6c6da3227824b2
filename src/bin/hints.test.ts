import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { line, span } from '../surfaces/cli/screen/paint.ts';
import { canvasOn } from './printer.ts';
import { typedCommand } from './program-place.ts';

const look = { width: 80, colours: false, links: false, live: false };

describe('a command in a hint', () => {
  it('runs as it is shown where the name of the program is not found', async () => {
    const program = typedCommand({ PATH: await temporaryFolder(afterAll) });
    expect(program).toMatch(/^node \S+bmad\.cjs$/);
    let shown = '';
    const stream = { write: (text: string) => void (shown += text) };
    canvasOn(stream, look, program)?.show([
      line(span('→ See all: '), span('bmad next --detail full', 'name')),
    ]);
    expect(shown).toBe(`→ See all: ${program} next --detail full\n`);
  });

  it('is left alone where it is found, and so is a name that begins like it', () => {
    let shown = '';
    const stream = { write: (text: string) => void (shown += text) };
    canvasOn(stream, look)?.show([line(span('bmad next', 'name'))]);
    canvasOn(stream, look, 'node x')?.show([line(span('bmad-architect', 'name'))]);
    expect(shown).toBe('bmad next\nbmad-architect\n');
  });
});
