/** French as people write it in projects: a plan, a story, and notes of a team. */
export const FRENCH_TEXTS: readonly string[] = [
  `# Cahier des charges : boutique de livres d'occasion

## Objectifs

La boutique permet aux lecteurs de vendre et d'acheter des livres d'occasion près de chez eux. Nous voulons que l'annonce
d'un livre prenne moins d'une minute, que le prix proposé soit juste, et que la livraison soit réservée dès le paiement.
Les premiers utilisateurs sont des étudiants et des familles, qui cherchent surtout des manuels et des romans.

## Exigences fonctionnelles

- Le vendeur photographie la couverture ; le titre, l'auteur et l'éditeur sont reconnus automatiquement.
- L'acheteur filtre les annonces par distance, par état du livre et par prix, et enregistre ses recherches.
- Le panier est conservé pendant trente jours, même après la déconnexion, et signale les livres déjà vendus.
- Le remboursement est déclenché lorsque le livre n'a pas été expédié après cinq jours ouvrés.

## Exigences non fonctionnelles

Les pages s'affichent en moins de deux secondes sur un réseau mobile ordinaire. Les données personnelles sont hébergées en
Europe, chiffrées au repos, et supprimées à la demande de leur propriétaire. L'accessibilité respecte le niveau AA.`,
  `# Récit 2.3 : réserver une livraison

Statut : en cours

En tant qu'acheteuse, je veux choisir un point de retrait pendant le paiement, afin de recevoir mon livre sans devoir rester
chez moi toute la journée.

## Critères d'acceptation

1. La liste propose les dix points les plus proches de l'adresse de facturation, avec leurs horaires d'ouverture.
2. Quand le transporteur ne répond pas, un message clair l'explique et la livraison à domicile reste possible.
3. Le point choisi apparaît dans le récapitulatif, dans le courriel de confirmation et sur l'étiquette d'envoi.

## Tâches

- [x] Appeler le service du transporteur et garder sa réponse pendant une heure
- [ ] Afficher la carte et la liste, utilisables au clavier et avec un lecteur d'écran
- [ ] Vérifier le comportement hors connexion et écrire les tests de bout en bout`,
  `# Apprentissages de l'équipe

- Vider le cache entre les tests du panier, sinon les quantités de l'essai précédent réapparaissent.
- Ne jamais livrer sans avoir relancé toute la suite de tests : deux régressions nous ont échappé au printemps.
- Les sessions sont sans état ; les jetons sont renouvelés toutes les quinze minutes et révoqués à la déconnexion.
- La base de données principale est PostgreSQL, choisie pour ses transactions et ses recherches en texte intégral.
- Les messages entre services passent par une file, afin que le paiement continue quand la logistique est arrêtée.
- Les conventions de nommage sont vérifiées par l'intégration continue : inutile d'en débattre pendant les relectures.
- Chaque décision d'architecture est consignée avec sa date, ses raisons et les solutions qui ont été écartées.`,
];
