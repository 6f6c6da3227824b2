import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FRENCH } from '../../language/french.ts';
import { lineLanguage } from '../../base/text/message.ts';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { bmadHere } from '../../../tests/support/command-line.ts';

const cleanUps: (() => Promise<void>)[] = [];
let project = '';

beforeAll(async () => {
  const folder = await temporaryFolder((cleanUp) => cleanUps.push(cleanUp));
  project = join(folder, 'boutique');
  const planning = join(project, '_bmad-output', 'planning-artifacts');
  await mkdir(join(project, '_bmad', 'core'), { recursive: true });
  await mkdir(planning, { recursive: true });
  await writeFile(join(project, '_bmad', 'core', 'config.yaml'), 'communication_language: French\n');
  await writeFile(join(planning, 'prd.md'), `# PRD\n\n${'La boutique vend des livres. '.repeat(40)}\n`);
});
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});

async function said(args: string, env: Record<string, string> = {}): Promise<string> {
  const surroundings = { HOME: join(project, '..'), PATH: process.env['PATH'] ?? '', ...env };
  const { screen } = await bmadHere(args.split(' '), { cwd: project, env: surroundings });
  return screen.replaceAll('\u00A0', ' ');
}

/** The same in a terminal of 80 columns. */
async function shown(args: string): Promise<string> {
  const env = { HOME: join(project, '..'), PATH: process.env['PATH'] ?? '', NO_COLOR: '1' };
  const { screen } = await bmadHere(args.split(' '), { cwd: project, env, terminal: true, columns: 80 });
  return screen.replaceAll('\u00A0', ' ');
}

const englishLines = (text: string): string[] =>
  text.split('\n').filter((line) => !/: bmad |^ *- \*\*/.test(line) && lineLanguage(line) === 'English');

describe('a session in a French project', () => {
  it('begins with help', async () => {
    const help = await said('--help');
    expect(help).toContain('les agents et workflows de la méthode BMad en ligne de commande');
    expect(help).toMatch(/list +Lister le contenu disponible/);
    const all = await said('help --all');
    expect(all).toMatch(/--project <folder> +Dossier du projet +BMAD_PROJECT_ROOT/);
    expect([help, all].flatMap(englishLines)).toEqual([]);
    // How a command is typed is never said otherwise.
    expect(all).toMatch(/\n {2}task +Travail en file/);
    expect(help).toMatch(/\n {2}contract +Si le projet est terminé/);
  });

  it('says what is near to a word that is not known, and what a model is given', async () => {
    expect(await said('nxt')).toContain('Pour lancer la commande "next" : bmad next\n');
    expect(await said('memory recall')).toContain('Exemple : bmad memory recall "which database"\n');
    expect(await said('task list')).toContain('Aucune tâche n’est en file.');
    expect(await said('inbox')).not.toMatch(/\b0\b/);
    const prd = await shown('workflow prd');
    expect(prd.replaceAll(/\s+/g, ' ')).toMatch(
      /^Ce qui suit est le texte que reçoit un modèle\. .* dites dans votre hôte : utilise bmad, démarre prd\. /,
    );
    expect(await said('workflow prd')).not.toContain('le texte que reçoit un modèle');
  });

  it('lists, and leaves what BMAD says of its agents as it is', async () => {
    const list = await said('list agents --limit 2');
    expect(list).toContain('Mary');
    expect(list).toContain('Business analyst for market research');
    expect(list).toContain('agents 1 à 2 sur 5');
    expect(list).toContain('Lire la partie suivante : bmad list --limit 2 --cursor');
  });

  it('quotes what git says as git says it (B-06)', async () => {
    const https = await said('sources add git+https://127.0.0.1:1/x.git');
    expect(https).toMatch(
      /l’hôte ne peut pas être joint \(git : fatal: unable to access 'https:\/\/127\.0\.0\.1:1\/x\.git\/': /,
    );
    const local = await said('sources add git+file:///no/such/repository');
    expect(local).toContain("fatal: '/no/such/repository' does not appear to be a git repository");
    const known = 'source host reached commit served fetched user file for since of exist marked'.split(' ');
    const own = [https, local]
      .join('\n')
      .replaceAll(/fatal: [^\n)]*|(?:https?|file):\/\/\S+|git\+\S+|bmad \S[^\n]*/g, '');
    for (const word of known) expect(own).not.toMatch(new RegExp(`\\b${word}\\b`));
  });

  it('says what comes next', async () => {
    const next = await said('next');
    expect(next).toMatch(/^planification\s: présente · conception non commencée\n/);
    expect(next).toContain('Écrire l’architecture');
    expect(next).toContain(
      'Pour commencer quelque chose de nouveau, utilisez build (pour un seul changement) · correct-course (pour plusieurs stories)',
    );
    expect(next).toContain('toutes les preuves : bmad next --detail full');
    expect(englishLines(next)).toEqual([]);
  });

  it('has the same screens as in English', async () => {
    expect(await shown('list agents')).toMatch(/^ {4}nom +qui +rôle +module\n📊 {2}analyst +Mary +Business/);
    expect(await shown('next')).toMatch(
      /^Analyse +░+ {2}non commencé\nPlanification +█{10} {2}présent\n[^]*\nSuite\n1\. Écrire l’architecture/,
    );
    const doctor = await shown('doctor --no-handshake');
    expect(doctor).toMatch(/\n✓ Projet +\/[^]*\n✓ Problèmes +aucun\n/);
    expect(doctor).toMatch(/\ncontenu +rang +agents/);
    const explained = await shown('explain architect');
    expect(explained).toMatch(/└─ ✓ bmm\/bmad-agent-architect {2}agent de BMAD [^]*démarré 0 fois/);
    expect(await shown('help memory')).toMatch(/\nCommandes :\n {2}\w/);
    expect(await shown('read nulle-part')).toMatch(/^✗ Aucun agent ni workflow/);
    for (const text of [doctor, await shown('memory list'), await shown('task list')])
      expect(englishLines(text)).toEqual([]);
  });

  it('has a word for the title of every column', async () => {
    const folder = join(import.meta.dirname, 'screens');
    for (const file of (await readdir(folder)).filter((name) => !name.endsWith('.test.ts')))
      for (const [, title = ''] of (await readFile(join(folder, file), 'utf8')).matchAll(/title: '([^']+)'/g))
        expect(FRENCH[title], title).toBeDefined();
  });

  it('says what went wrong, and the way out', async () => {
    expect(await said('read nulle-part')).toContain('Aucun agent ni workflow ne s’appelle "nulle-part".');
    expect(await said('task show x')).toContain('"x" n’est pas un identifiant de tâche.');
    expect(await said('list --nowhere')).toContain('erreur : option inconnue « --nowhere »');
  });

  it('looks at the installation', async () => {
    const doctor = await said('doctor --no-handshake');
    expect(doctor).toContain('Problèmes : aucun');
    expect(doctor).toMatch(/Projet : .*boutique/);
    expect(englishLines(doctor)).toEqual([]);
  });

  it('keeps data for programs, and texts for models, as they are', async () => {
    const data = JSON.parse(await said('memory stats --json')) as Record<string, unknown>;
    expect(Object.keys(data)).toContain('superseded');
    expect(await said('read nulle-part --json')).toContain('There is no agent or workflow');
    const [french, english] = [await said('read architect'), await said('read architect --lang en')];
    expect(french.split('\n').slice(0, 20)).toEqual(english.split('\n').slice(0, 20));
  });

  it('is English where the flag or the variable asks for it', async () => {
    expect(await said('task show x --lang en')).toContain('is not a task id');
    expect(await said('task show x', { BMAD_LANG: 'en' })).toContain('is not a task id');
  });

  it('refuses a language that there are no words for, and ignores such a variable', async () => {
    const refused = await said('list agents --lang klingon');
    expect(refused).toContain('--lang : "klingon" n’est pas valide pour language. Utilisez en ou fr.');
    expect(await said('task show x', { BMAD_LANG: 'xx_YY' })).toContain('n’est pas un identifiant');
  });
});
