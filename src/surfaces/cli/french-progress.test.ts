import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { bmadHere } from '../../../tests/support/command-line.ts';

const project = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);

/** A ledger with a row of each kind that something is said about, and two runs. */
beforeAll(async () => {
  const folder = join(project, '_bmad-output', 'implementation-artifacts');
  await mkdir(join(project, '_bmad', 'core'), { recursive: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(project, 'package.json'), '{"scripts":{"test":"true"}}');
  const rows = ['epic-1: done', '1-1-count-words: review', '1-2-print: done', '1-3-save: nowhere'];
  await writeFile(join(folder, 'sprint-status.yaml'), `development_status:\n  ${rows.join('\n  ')}\n`);
  for (const workflow of ['prd', 'dev-story']) await said(`run open ${workflow}`);
});

async function said(args: string, terminal = false): Promise<string> {
  const env = { HOME: home, PATH: process.env['PATH'] ?? '', NO_COLOR: '1', BMAD_EMBEDDER: 'none' };
  const typed = [...args.split(' '), '--lang', 'fr'];
  const { screen } = await bmadHere(typed, { cwd: project, env, terminal, columns: 140 });
  return screen.replaceAll('\u00A0', ' ');
}

/** Words of English that no French answer about progress has, outside of names and commands. */
const ENGLISH =
  /\b(?:it is|is|are|not|done|running|steps?|without|proven|by|latest|also|open|must|and|the|of|récits?)\b/;
const englishLines = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) =>
      ENGLISH.test(line.replace(/bmad [a-z].*$/, '').replaceAll(/\S*[-_/]\S*|(?<=règle pour|à) done/g, '')),
    );

describe('how far a project is, in French', () => {
  it('is French in a pipe and on a screen', async () => {
    for (const terminal of [false, true])
      for (const typed of ['next', 'status', 'run status', 'run resume', 'session list'])
        expect(englishLines(await said(typed, terminal)), `${typed} ${terminal}`).toEqual([]);
  });

  it('counts stories and says who does what', async () => {
    const next = await said('next');
    expect(next).toContain(
      '1 story terminée sur 3 (1 sans revue au dossier), 0 prouvée, 1 en attente de revue\n',
    );
    expect(next).toMatch(/\n1\. Reprendre l’exécution \S+ : elle est en cours\n/);
    expect(next).toContain('\n   bmad execute code-review 1-1-count-words\n');
    expect(next).toContain('1-3-save : « nowhere » n’est pas un statut valide pour une story');
    expect(next).toContain('epic-1 est terminé, mais 1-1-count-words, 1-3-save ne le sont pas');
  });

  it('says how runs and session branches stand', async () => {
    expect(await said('run status')).toMatch(/^Exécution .* : en cours, 0 étape terminée\n/);
    expect(await said('session list')).toMatch(
      /- main \(courante\) : active, 2 exécutions \(2 en cours\), dernière \S+ \(en cours\)\n/,
    );
    expect(await said('session list --status failed')).toContain(
      'Aucune branche de session n’a échoué ; il y en a d’autres : 1 active.',
    );
    await said('session create side');
    expect(await said('session list')).toMatch(/- side.* : active, depuis \S+, 0 exécution\n/);
  });

  it('says what a value has to be', async () => {
    expect(await said('list nothing')).toMatch(/"what" doit être l’un de agents, .*, pas "nothing"\./);
    expect(await said('memory list --limit 0')).toContain('"limit" doit être au moins 1, pas 0.');
  });
});
