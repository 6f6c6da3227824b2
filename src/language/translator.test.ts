import { describe, expect, it } from 'vitest';
import { inFrench } from './french.ts';
import { translator } from './translator.ts';

const say = translator({
  'Try again.': 'Réessayez.',
  'Ask again': 'Redemander',
  'There is no {0} called {1}.': 'Aucun {0} ne s’appelle {1}.',
  'There is no {0} called {1}.{2}': 'Aucun {0} ne s’appelle {1}.{2}',
  '{0} was moved to {1}': '{1} contient {0}',
  '{n} agent': '{n} agent',
  '{n} agents': '{n} agents',
  '{n} task': '{n} tâche',
  '{n} tasks': '{n} tâches',
  '{0} of {1}': '{0} sur {1}',
  '(repeatable)': '(répétable)',
  'Project folder': 'Dossier du projet',
  'List the agents': 'Lister les agents',
  'the working directory': 'le dossier de travail',
  'Project: {0} ({1})': 'Projet : {0} ({1})',
  '{0} is empty.': '{0} est vide.',
  setting: 'réglage',
  status: 'état',
});

describe('what is said in another language', () => {
  it.each([
    ['an entry', 'Try again.', 'Réessayez.'],
    ['what is not in the catalogue', 'This was never said.', 'This was never said.'],
    ['what comes in', 'There is no agent called "x".', 'Aucun agent ne s’appelle "x".'],
    ['places in another order', 'b.txt was moved to /a', '/a contient b.txt'],
    ['one thing', '1 task', '1 tâche'],
    ['several', '3 tasks', '3 tâches'],
    ['a list of numbers', '5 agents, 1 task, 2 owls', '5 agents, 1 tâche, 2 owls'],
    ['numbers, and only those', '2 of 3', '2 sur 3'],
    ['what somebody wrote', 'Two of them are in the cart of us all', 'Two of them are in the cart of us all'],
    ['several sentences', 'Unknown thing. Try again.', 'Unknown thing. Réessayez.'],
    ['an indented item', '  - Try again.', '  - Réessayez.'],
    ['a heading', '## Project folder', '## Dossier du projet'],
    ['a mark behind it', 'Project folder:', 'Dossier du projet\u00A0:'],
    ['a small first letter', 'project folder', 'dossier du projet'],
    ['what is in brackets', 'Project folder (repeatable)', 'Dossier du projet (répétable)'],
    ['a phrase of ours inside', 'Project: /a (the working directory)', 'Projet : /a (le dossier de travail)'],
    ['columns', '  --project <x>   Project folder     BMAD_X', '  --project <x>   Dossier du projet  BMAD_X'],
    ['names in columns', '  status [options]  Try again.', '  status [options]  Réessayez.'],
    ['a command', 'List the agents: bmad list status', 'Lister les agents\u00A0: bmad list status'],
    ['several lines', 'Try again.\n\nAsk again', 'Réessayez.\n\nRedemander'],
    ['code', '```\nTry again.\n```\nTry again.', '```\nTry again.\n```\nRéessayez.'],
    [
      'heads of a table and not its names',
      '| setting |\n|---|\n| status |\n',
      '| réglage |\n|---|\n| status |\n',
    ],
    ['nothing', '', ''],
    ['no words', '----- 12 -----', '----- 12 -----'],
  ])('%s', (_name, english, other) => expect(say(english)).toBe(other));

  it('comes back as it was where it is long, or made to be slow', () => {
    for (const hostile of ['There is no '.repeat(300), ' is empty'.repeat(400), `${'a: '.repeat(1_300)}(`])
      expect(typeof say(hostile)).toBe('string');
    const long = `Try again. ${'x'.repeat(5_000)}`;
    expect(say(long)).toBe(long);
  });
});

describe('French', () => {
  it('keeps names, paths, ids and commands', () => {
    expect(inFrench('There is no agent or workflow "foo".')).toBe(
      'Aucun agent ni workflow ne s’appelle "foo".',
    );
    expect(inFrench('List the workflows: bmad list workflows')).toBe(
      'Lister les workflows\u00A0: bmad list workflows',
    );
    expect(inFrench('/a/b.json is a link; it was not followed.')).toBe(
      '/a/b.json est un lien\u00A0; il n’a pas été suivi.',
    );
  });

  it('says nothing twice: a text that is French already stays', () => {
    const once = inFrench('Nothing left to do: everything planned is done.');
    expect(once).not.toContain('done');
    expect(inFrench(once)).toBe(once);
  });
});
