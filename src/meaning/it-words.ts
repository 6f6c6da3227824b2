/**
 * Words of our trade in English and in French, one meaning a line, the usual word of each language first. A question in one
 * language finds what was noted in the other.
 */
export const IT_WORDS = `
database, DBMS, DB | base de données, SGBD, BDD
relational database | base de données relationnelle, SGBDR
schema | schéma
query | requête
backup | sauvegarde
restore | restauration
storage | stockage
file | fichier
folder, directory | dossier, répertoire
cache | cache, antémémoire
queue | file d'attente
message broker, message bus | bus de messages, courtier de messages
server | serveur
network | réseau
hosting | hébergement
deployment, deploy | déploiement, déployer
environment | environnement
container | conteneur
cluster | grappe
load balancer | répartiteur de charge
availability | disponibilité
outage, downtime | panne, indisponibilité
monitoring | surveillance, supervision
log, logging | journal, journalisation
alert | alerte
authentication, login, sign-in | authentification, connexion
authorization, permissions | autorisation, droits d'accès
password | mot de passe
token | jeton
encryption | chiffrement
key | clé
certificate | certificat
security | sécurité
privacy | vie privée, confidentialité
user | utilisateur
account | compte
software | logiciel
hardware | matériel
library | bibliothèque
framework | cadriciel
dependency | dépendance
package | paquet
release | livraison, mise en production
branch | branche
merge | fusion
repository | dépôt
source code | code source
build | compilation
continuous integration, CI | intégration continue
test | test, essai
unit test | test unitaire
integration test | test d'intégration
end-to-end test | test de bout en bout
bug, defect | anomalie, bogue
error | erreur
failure | échec, défaillance
fix | correctif
feature | fonctionnalité
requirement | exigence, besoin
latency, response time | latence, temps de réponse
throughput | débit
memory leak | fuite de mémoire
thread | fil d'exécution
lock | verrou
screen | écran
button | bouton
form | formulaire
web page | page web
browser | navigateur
frontend, front end | interface utilisateur
backend, back end | serveur d'application
web service | service web
payment | paiement
cart, basket | panier
invoice | facture
mail, e-mail | courriel, messagerie
scheduler, cron job | ordonnanceur, tâche planifiée
batch | traitement par lots
data warehouse | entrepôt de données
data | données
language, programming language | langage, langage de programmation
tooling, tool | outillage, outil
`;

/** Words that a question or a statement is made with and that say nothing about its subject, whole and without accents. */
export const WEAK_WORDS =
  'use uses used using usage utilise utilises utilisent utilisons utilisez utiliser utilisee utilisees utilisant ' +
  'utilisait emploie emploient employons employer choose chose chosen choice choisi choisie choisis choisir choisit ' +
  'choisissons retenu retenue retenus decide decided decides decidons prend prenons prendre take taken need needs ' +
  'kind sort type which what whether know known savoir sait connait tell dit say says there thing chose choses ' +
  'decision decisions pick picks picked why reason reasons pourquoi raison raisons motif retenir retenons ' +
  'currently now today actuellement maintenant aujourd hui project projet';

/** What there is of a kind, by its English word: a question about the kind finds what was decided by name. */
export const KINDS_OF_THINGS = `
database | PostgreSQL, Postgres, MySQL, MariaDB, SQLite, MongoDB, Oracle, DynamoDB, Cassandra
authentication | JWT, OAuth, OIDC, SAML, Keycloak, session
cache | Redis, Memcached, Varnish
queue | RabbitMQ, Kafka, NATS, SQS
message broker | RabbitMQ, Kafka, NATS, SQS
deployment | Kubernetes, k3s, k8s, Helm, Docker, Terraform, Ansible
`;
