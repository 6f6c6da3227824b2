import { expect, it } from 'vitest';
import { analyse } from './analyse.ts';

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
    const terms = new Set(forms.flatMap((form) => analyse(form)));
    return terms.size === 1 ? [] : [`${family}: ${[...terms].join(' ')}`];
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
