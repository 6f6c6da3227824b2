import { describe, expect, it } from 'vitest';
import { asWritten, withMarks } from '../base/text/text.ts';
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
  it('is not what somebody wrote, which comes out without its marks (Q-O1)', () => {
    const text = (what: string): string => withMarks(() => `There is no agent called ${asWritten(what)}.`);
    expect(say(text('Try again.'))).toBe('Aucun agent ne s’appelle Try again..');
    expect(say(withMarks(() => asWritten('Try again.\n3 tasks')))).toBe('Try again.\n3 tasks');
    // Somebody who writes the marks ends nothing by them.
    expect(say(text('a\uFDD1 Try again. \uFDD0'))).toBe('Aucun agent ne s’appelle a Try again. .');
    expect(asWritten('Try again.')).toBe('Try again.');
  });

  it('leaves the icons of fonts where they are, beside what somebody wrote and in it (18)', () => {
    const icons = '\u{F0001}\u{F0002} \u{F0000} \u{FFFFD}';
    expect(say(withMarks(() => `${icons} ${asWritten(`a ${icons}`)}\n3 tasks`))).toBe(
      `${icons} a ${icons}\n3 tâches`,
    );
    const many = icons.repeat(20_000);
    expect(say(withMarks(() => `${many}${asWritten('a')}`))).toBe(`${many}a`);
  });

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
      'code with a fence in it',
      '````\n```\nTry again.\n````\nTry again.',
      '````\n```\nTry again.\n````\nRéessayez.',
    ],
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

  it.each([
    [
      '2 of 2 stories done (2 without a review on file), 0 proven',
      '2 stories terminées sur 2 (2 sans revue au dossier), 0 prouvée',
    ],
    ['1 of 3 stories done, 1 waiting for review', '1 story terminée sur 3, 1 en attente de revue'],
    [
      'Prove what is done: it is built, but not proven',
      'Prouver ce qui est terminé : c’est réalisé, mais pas prouvé',
    ],
    [
      '- epic done, stories open: epic-1 is done, but 1-1-count-words is not',
      '- epic terminé, stories ouvertes : epic-1 est terminé, mais 1-1-count-words ne l’est pas',
    ],
    [
      'epic-1 is done, but 1-1, 1-2 and 2 more are not',
      'epic-1 est terminé, mais 1-1, 1-2 et 2 de plus ne le sont pas',
    ],
    ['1-1: "x" is not a valid status for a story', '1-1 : « x » n’est pas un statut valide pour une story'],
    [
      '1. Resume run r-2: it is running, 2 of 5 steps, next step 3; also open: r-1',
      '1. Reprendre l’exécution r-2 : elle est en cours, 2 sur 5 étapes, étape suivante 3 ; aussi ouvertes : r-1',
    ],
    ['   prd by pm: bmad execute prd', '   prd par pm : bmad execute prd'],
    ['   Write the PRD: prd by pm: bmad execute prd', '   Écrire le PRD : prd par pm : bmad execute prd'],
    ['- r-1: running, 0 steps done', '- r-1: en cours, 0 étapes terminées'],
    [
      '- main (current): active, since 2026-02-01, 4 runs (3 running, 1 completed), latest r-4 (running)',
      '- main (courante) : active, depuis 2026-02-01, 4 exécutions (3 en cours, 1 terminée), dernière r-4 (en cours)',
    ],
    [
      'list: "what" must be one of agents, workflows, not "x".',
      'list: "what" doit être l’un de agents, workflows, pas "x".',
    ],
    ['"limit" must be at least 1, not 0.', '"limit" doit être au moins 1, pas 0.'],
    ['bmad contract run --help explains it.', 'bmad contract run --help l’explique.'],
    ['Usage: bmad next [options]', 'Usage : bmad next [options]'],
  ])('says a sentence made of parts as a whole: %s', (english, french) =>
    expect(inFrench(english).replaceAll('\u00A0', ' ')).toBe(french),
  );

  it('says nothing twice: a text that is French already stays', () => {
    const once = inFrench('Nothing left to do: everything planned is done.');
    expect(once).not.toContain('done');
    expect(inFrench(once)).toBe(once);
  });
});
