import { describe, expect, it } from 'vitest';
import { problemsOf, spokenIn, textsOf } from '../scripts/french/texts.ts';

const code = (...texts: string[]) => ({
  all: new Set(texts),
  read: new Map(texts.map((text) => [text, 'src/a.ts'])),
  kept: [],
});

describe('the check of the French catalogue', () => {
  it('is content with a complete one', () => {
    const files = { 'a.json': { 'There is no {0}.': 'Il n’y a pas de {0}.' } };
    expect(problemsOf(files, code('There is no {0}.'))).toEqual([]);
  });

  it('names a text without a French one', () => {
    expect(problemsOf({}, code('Try again.'))).toEqual(['missing (src/a.ts): Try again.']);
  });

  it('names an entry that no text of the code has', () => {
    const files = { 'a.json': { 'Never said anywhere.': 'Jamais dit.' } };
    expect(problemsOf(files, code())).toEqual(['a.json: unused: Never said anywhere.']);
  });

  it('names an entry whose places are not those of its key', () => {
    const files = { 'a.json': { '{0} of {1}': '{0} sur {2}', 'No {0}.': 'Aucun.' } };
    expect(problemsOf(files, code('{0} of {1}', 'No {0}.'))).toEqual([
      'a.json: the places differ: {0} of {1}',
      'a.json: the places differ: No {0}.',
    ]);
  });

  it('names what is not written as French is', () => {
    const files = { 'a.json': { One: "C'est un.", Two: 'Deux : « deux »', Three: ' ' } };
    expect(problemsOf(files, code('One', 'Two', 'Three'))).toEqual([
      'a.json: a straight apostrophe: One',
      'a.json: a plain space where none may break: Two',
      'a.json: empty: Three',
    ]);
  });

  it('names what is there twice, and what is kept English and needs not be', () => {
    const files = { 'a.json': { One: 'Un' }, 'b.json': { One: 'Un' } };
    const problems = problemsOf(files, { ...code('One'), kept: ['One', 'Gone'] });
    expect(problems).toEqual([
      'b.json: also in a.json: One',
      'kept.json: has a French text: One',
      'kept.json: unused: Gone',
    ]);
  });
});

describe('the texts of a file with markup', () => {
  it('are its messages and plurals, whatever stands between them', () => {
    const source =
      "<p title={t`One ${plural(a(1), 'thing')}`}>it's / not {b ? `${x} ${t`Two`}` : plural(n, 'a', 'b')}</p>";
    expect([...textsOf(spokenIn(source)).said].sort()).toEqual([
      'One {0}',
      'Two',
      '{n} a',
      '{n} b',
      '{n} thing',
      '{n} things',
    ]);
  });
});

describe('the texts of the code that people read', () => {
  const needed = (source: string): string[] => {
    const { said, known } = textsOf(source);
    return [...said, ...known];
  };

  it.each([
    ['a message', 't`There is no ${kind} called ${name}.`', ['There is no {0} called {1}.']],
    ['one with another inside', 't`Read ${a ? t`it all` : b}.`', ['Read {0}.', 'it all']],
    ['one of several lines', 't`First line\n- ${second}`', ['First line\n- {0}']],
    ['what is said as a whole', "say('Try again.')", ['Try again.']],
    ['both numbers of a thing', "plural(n, 'agent')", ['{n} agent', '{n} agents']],
    ['two words of their own', "plural(list.length, 'story', 'stories')", ['{n} story', '{n} stories']],
    ['constants of the module', "const REASONS = { full: 'the disk is full' };", ['the disk is full']],
    [
      'titles and descriptions',
      "({ title: 'List all', x: z.string().describe('What to list') })",
      ['List all', 'What to list'],
    ],
    ['no other text', "const told = 'It was done.'; throw new Error(`${a} is gone.`)", []],
    ['no names and paths', "const NAMES = ['agent', 'src/a.ts', './b.ts', 'run_id', 'content-type'];", []],
    [
      'no commands',
      "({ command: 'memory list', examples: ['memory list --all', 'x y'], title: 'List all' })",
      ['List all'],
    ],
  ])('are %s', (_name, source, expected) => expect(needed(source)).toEqual(expected));
});
