import { describe, expect, it } from 'vitest';
import { analyse, ANALYSER_VERSION } from './analyse.ts';

/** The different terms that single words give: one, if they count as the same. */
const terms = (...words: string[]): string[] => [...new Set(words.flatMap((word) => analyse(word)))];

describe('analyse', () => {
  it('removes English endings', () => {
    expect(terms('deployment', 'deployments', 'deployed', 'deploying', 'deploy')).toHaveLength(1);
    expect(terms('policy', 'policies')).toHaveLength(1);
    expect(terms('test', 'tests', 'testing', 'tested')).toHaveLength(1);
    expect(terms('cache', 'caches', 'cached', 'caching')).toHaveLength(1);
    expect(terms('approval', 'approvals')).toHaveLength(1);
  });

  it('removes French endings, with and without accents', () => {
    expect(
      terms('déploiement', 'déploiements', 'déployer', 'déployé', 'déployées', 'deploiement'),
    ).toHaveLength(1);
    expect(terms('facture', 'factures', 'facturer', 'facturation')).toHaveLength(1);
    expect(terms('sauvegarde', 'sauvegardée', 'sauvegarder', 'sauvegardes')).toHaveLength(1);
    expect(terms('requête', 'requêtes', 'requete')).toHaveLength(1);
    expect(terms('journal', 'journaux')).toHaveLength(1);
  });

  it('leaves out the words that every sentence has', () => {
    expect(analyse('What is the reason for it?')).toEqual(analyse('reason'));
    expect(analyse("L'équipe qu'il a eue, et c'est aujourd'hui")).toEqual(analyse('équipe eue'));
    expect(analyse('')).toEqual([]);
  });

  it('takes identifiers apart', () => {
    expect(analyse('parseHTTPResponse')).toEqual(analyse('parse http response'));
    expect(analyse('user_account-id')).toEqual(analyse('user account id'));
    expect(analyse('sha256 utf8 i18n')).toEqual(['sha256', 'utf8', 'i18n']);
  });

  it('keeps the numbers that tell one thing from another', () => {
    expect(analyse('Story 1.3.')).toEqual([...analyse('story'), '1.3']);
    expect(analyse('Python 2')).not.toEqual(analyse('Python 3'));
    expect(analyse('v1.3, 1.3.story.md, 10.0.0.1')).toEqual([
      '1.3',
      '1.3',
      ...analyse('story md'),
      '10.0.0.1',
    ]);
    expect(analyse('a1.3 x v2')).toEqual(['a1', '3', 'v2']);
  });

  it('folds accents and ligatures', () => {
    expect(terms('cœur', 'coeur')).toHaveLength(1);
    expect(terms('ÉTAPES', 'étapes')).toHaveLength(1);
    expect(terms('e\u0301tape', '\u00e9tape')).toHaveLength(1);
  });

  it('keeps words of other scripts as they are', () => {
    expect(analyse('база данных')).toHaveLength(2);
  });

  it('gives the same terms twice, also when many words have passed', () => {
    const before = analyse('décisions importantes');
    analyse(
      Array.from({ length: 30_000 }, (_, i) => `word${'abcdefghij'[i % 10]}${i.toString(26)}`).join(' '),
    );
    expect(analyse('décisions importantes')).toEqual(before);
  });

  it('counts its version up when its terms change', () => {
    const text =
      "Les sauvegardes échouées de l'été: backupJobs failed, retries were cancelled in v2.1 of step 3, sans utilisateurs";
    expect({ version: ANALYSER_VERSION, terms: analyse(text).join(' ') }).toEqual({
      version: 5,
      terms: 'sauvegard echou backup job fail retr cancel 2.1 step 3 utilisateur',
    });
  });
});

/** The first words of each line are forms of one word. */
const FAMILIES = [
  'déploiement déployer | nous déployons | nous ne déployons | Déployons | déployé déploie déploiements deployment deploy',
  'paiement payer | nous payons | payé payment',
  'hébergement héberger | nous hébergeons | hébergeons hébergé',
  'chiffrement chiffrer | nous chiffrons | chiffré chiffrage',
  'développement développer | nous développons | développeur développé development develop',
  'changement changer | nous changeons | changé',
  'lancement lancer | nous lançons | lancé',
  'remplacement remplacer | nous le remplaçons | remplacé',
  'traitement traiter | nous traitons | traité',
  'validation valider | nous validons | validé validate',
  'migration migrer | nous migrons | migré migrate',
  'configuration configurer | nous configurons | configuré configure',
  'authentification authentifier | nous authentifions | authentication authenticate',
  "utilisation utiliser | nous n’utilisons plus | nous n'utilisons | utilisons utilisé",
  'installation installer | nous installons | installé install',
  'exécution exécuter | nous exécutons | execute execution',
  'création créer | nous créons | créé create creation',
  'suppression supprimer | nous supprimons | supprimé',
  'connexion connecter | nous connectons | connecté connect',
  'livraison livrer | nous livrons | livré',
  'stockage stocker | nous stockons | stocké',
  'nettoyage nettoyer | nous nettoyons | nettoyons',
  'renouvellement renouveler | nous renouvelons | renouvelé',
  'sauvegarde sauvegarder | nous sauvegardons | sauvegardé',
  'vérification vérifier | nous vérifions | vérifié verify',
  'choix choisir | nous choisissons | choisi',
  'échec échouer | nous échouons | échoué échecs',
  'réduction réduire | nous réduisons | réduit',
  'achat acheter | nous achetons | acheté acheteur',
  'réponse répondre | nous répondons | répondu',
  'traduction traduire | nous traduisons | traduit traducteur',
  'blocage bloquer | nous bloquons | bloqué',
  'protection protéger | nous protégeons | protégé protect',
];

it('M-27: takes the forms of a French verb and its noun for one word', () => {
  const apart = FAMILIES.flatMap((family) => {
    const forms = family
      .split('|')
      .flatMap((part) => (/\bnous\b/.test(part) ? [part] : part.trim().split(' ')));
    const stems = new Set(forms.flatMap((form) => analyse(form)));
    return stems.size === 1 ? [] : [`${family}: ${[...stems].join(' ')}`];
  });
  expect(apart).toEqual([]);
});

/** Words that look alike and are not. */
const APART =
  `boutons/bouts jetons/jeter cartons/cart patrons/pattern jalons/jaloux salons/salle options/opter
  actions/acteur sessions/cesser versions/verser fonctions/fondre raisons/raser saisons/saisie maisons/maintenir
  prisons/prise poisons/poser liaisons/lier crayons/crayeux pigeons/piger leçons/laisser façons/face échantillons/échanger
  brouillons/brouiller champignons/champion page/papier message/messe langage/langue image/imaginer usage/user package/packer
  moment/montre monument/monter segment/sec argument/argent payload/paye section/sectaire portion/porte nation/natif
  notion/note ration/rater mention/mentir station/statut création/crème gestion/geste livraison/librairie suppression/pression
  connexion/annexe migration/migraine exécution/exclu déposer/déployer utilisateurs/utilise`
    .split(/\s+/)
    .map((pair) => pair.split('/'));

it('M-27: takes no words for one that only look alike', () => {
  expect(APART.length).toBeGreaterThanOrEqual(40);
  const merged = APART.filter(([one = '', other = '']) => analyse(one).join() === analyse(other).join());
  expect(merged).toEqual([]);
});
