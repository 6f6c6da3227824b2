import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repository } from './support/app.ts';

/** The modules that start programs or say where one is, and what of them does. */
const STARTING = /^base\/(?:process\/(?:git|process|process-watched|start-program)|files\/find-program)\.ts$/;
const STARTERS = new Set(
  'startProgram runProgram runWatched runGit programsBesides findProgram findNamed findForProject allowedByPerson ownProgram'.split(
    ' ',
  ),
);

/** Who uses which of these. What wants to know something of git asks the verbs of git.ts. */
const MAY_START: Record<string, readonly string[]> = {
  'base/process/git.ts': ['programsBesides', 'runProgram'],
  'sources/git/git.ts': ['runGit'],
  'base/process/process.ts': ['ownProgram', 'startProgram'],
  'bin/person.ts': ['programsBesides', 'startProgram'],
  'bin/http.ts': ['findProgram', 'runProgram'],
  'bin/page.ts': ['programsBesides', 'startProgram'],
  'services/codebase/ripgrep.ts': ['ownProgram', 'runProgram'],
  'services/completion/builtin.ts': ['allowedByPerson', 'findForProject', 'runWatched'],
  'services/completion/run.ts': ['findProgram', 'runWatched'],
  'services/diagnosis/diagnosis.ts': ['findNamed', 'runProgram'],
};

/** How a file takes something of another: by names, as a whole, later, or to hand it on. */
const TAKEN =
  /(?:(?:import|export)\s+(?!type\b)(\{[^}]*\}|[^'"`;]*?)\s*from\s*|(?:import|require)\(\s*)['"`]([^'"`]+)['"`]/g;

/** Git as a program or as the beginning of a command line, alone in quotes. */
const NAMES_GIT = /(['"`])(?:[^'"`\n]*[\\/])?git(?:\.exe)?(?: -[^'"`\n]*| [a-z-]+)?\1/i;

const source = join(repository, 'src');
const files = (await readdir(source, { recursive: true }))
  .map((name) => name.split(sep).join('/'))
  .filter((name) => /(?<!\.test)\.tsx?$/.test(name));
const texts = new Map(
  await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(source, file), 'utf8');
      return [file, text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/g, '')] as const;
    }),
  ),
);

function startersIn(file: string, text: string): string[] {
  return [...text.matchAll(TAKEN)].flatMap(([, taken = '', specifier = '']) => {
    const module = relative(source, resolve(source, dirname(file), specifier))
      .split(sep)
      .join('/');
    if (!STARTING.test(module)) return [];
    // Whatever takes a module as a whole, or later, may start anything with it.
    if (!taken.startsWith('{')) return [module];
    return [...taken.matchAll(/(?<!type\s+)\b\w+\b/g)].flatMap(([name]) =>
      STARTERS.has(name) ? [name] : [],
    );
  });
}

describe('programs', () => {
  it('are started only by files that are known to, and git by verbs alone (S-17, X-01)', () => {
    const used = [...texts].flatMap(([file, text]) => {
      const names = startersIn(file, text);
      return names.length === 0 ? [] : [[file, names.sort()]];
    });
    expect(Object.fromEntries(used)).toEqual(MAY_START);
  });

  it('are found in one way: nothing else makes what can be started (X-02, X-10)', () => {
    const made = [...texts].filter(([, text]) =>
      /\bas\s+(?:unknown\s+as\s+)?FoundProgram\b|(?<!\w)<FoundProgram>/.test(text),
    );
    expect(made.map(([file]) => file)).toEqual(['base/files/find-program.ts']);
    expect(texts.get('base/process/start-program.ts')).toContain('program: FoundProgram');
  });

  it('are never git for those that start others, nor a shell that starts it (X-01)', () => {
    const others = Object.keys(MAY_START).filter(
      (file) => file !== 'base/process/git.ts' && MAY_START[file]?.join() !== 'runGit',
    );
    expect(others.filter((file) => NAMES_GIT.test(texts.get(file) ?? ''))).toEqual([]);
  });

  it.each([
    ["import { runProgram as start } from '../../base/process/process.ts';", ['runProgram']],
    ["import * as all from '../../base/process/process.ts';", ['base/process/process.ts']],
    ["const { runGit } = await import('../../base/process/git.ts');", ['base/process/git.ts']],
    ["export { findProgram } from '../../base/files/find-program.ts';", ['findProgram']],
    ["import { type ProgramResult, intake } from '../../base/process/process.ts';", []],
    ["import type { ProgramResult } from '../../base/process/process.ts';", []],
  ])('would be found, however the next file takes what starts them: %s', (text, found) => {
    expect(startersIn('services/any/file.ts', text)).toEqual(found);
  });

  it.each([
    "'git'",
    '"git.exe"',
    "'/usr/bin/git'",
    '`git status`',
    "'git --version'",
    'String.raw`C:\\Git\\cmd\\git.exe`',
  ])('would be found to be git: %s', (text) => expect(NAMES_GIT.test(text)).toBe(true));
});
