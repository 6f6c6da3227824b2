import { analyse } from '../../meaning/analyse.ts';
import { push } from '../../base/grouped.ts';

/**
 * The method's own words in English and French, one meaning per line: what BMAD's names and titles are made of, spelled
 * out, and said in the other language. A search for one word of a line finds texts with any other. General words are
 * not here; they are the embedder's work. A phrase with a mark, `*mettre en production`, means something else than its words do:
 * these count neither for themselves nor for what else they may mean.
 */
const LINES = `
prd, product requirements document, requirements document, requirements doc, *cahier des charges, document d'exigences, expression de besoins
product, produit
requirement, exigence, besoin
nfr, non-functional requirements, exigences non fonctionnelles, quality attributes
spec, specification, spécification
tech spec, technical specification, spécification technique
brief, summary, one pager, note de cadrage, résumé
prfaq, press release, communiqué de presse, working backwards
gdd, game design document, document de conception du jeu
epic, épopée
story, user story, récit utilisateur, ticket
epics and stories, *découper en récits, *découper en stories, *découper en user stories, *découper en histoires, *découper en histoires utilisateur, *découper en tickets
create story, *rédiger une story, *rédiger une user story, *rédiger un récit, *rédiger une histoire utilisateur, *écrire une story, *écrire une user story, *écrire un récit utilisateur
backlog, carnet de produit, work items
epics and stories, *make a backlog, *fill the backlog, *remplir le backlog
sprint, iteration, itération
sprint planning, planification du sprint, plan the sprint
status, progress, avancement, état, suivi
retrospective, retro, rétrospective, bilan, lessons learned, post-mortem, *tirer les leçons, *retour d'expérience, *went wrong, *what went well
correct course, change request, changement de cap, changer de cap, *corriger le tir, *corriger le cap, scope change, changement de périmètre, *revoir le plan, *adapter le plan, *adjust the plan, *changed their mind, *changé d'avis
change, changement, modification
acceptance criteria, critères d'acceptation, recette
readiness, ready, prêt
ux, user experience, usability, expérience utilisateur, ergonomie, parcours utilisateur
ui, user interface, interface utilisateur, screen, écran
wireframe, mockup, maquette, maquetter
frontend, front end
backend, service, api
architecture, system design, conception technique, monolith, microservices, monolithe, *découper en services, *split into services
architect, architecte
stack, technology, technologie
infrastructure, cloud, hosting, hébergement, kubernetes, terraform, docker
devops, platform, déploiement, deployment, exploitation
devops, deployment, *mettre en production, *mise en production, *passer en production, *livrer en production, *deploy to production, *release to production
ci, continuous integration, intégration continue, pipeline
develop, implement, code, program, développer, coder, programmer, implémenter
developer, engineer, programmer, développeur, ingénieur, programmeur
fix, bug, debug, defect, hotfix, corriger, réparer, déboguer, bogue, anomalie, défaut
fix bug, *corriger un bug, *corriger un bogue, *corriger une anomalie, *corriger un défaut, *réparer un bug, *réparer un bogue, *réparer une anomalie, *résoudre un bug, *résoudre une anomalie
quick, rapid, fast, rapide
code review, revue de code, relecture de code
review, revue, relecture, relire, proofread, reviewer, relecteur, relectrice
review, edge cases, corner cases, *cas limites, *edge case, *corner case
review, *tear apart, *pick apart, *shorten the text, *shorten the document, *raccourcir le texte, *raccourcir le document
critique, criticism, adversarial, critiquer, red team
walkthrough, step by step, pas à pas
test, essai, tester
generate test, automate test, *acceptance tests, *tests d'acceptation, *tests de recette, *écrire les tests, *rédiger les tests, *ajouter des tests
end-to-end tests, e2e, tests de bout en bout
automate, automation, automated, automatic, automatiser, automatique
atdd, tdd, test first, failing tests
quality, qualité, qa
trace, traceability, traçabilité, coverage, covered, couvert
risk, risque
gate, go no go, feu vert
performance, frame rate, fps, fluidité
checklist, liste de contrôle, liste de vérification
validate, verify, validation, valider, vérifier
analyst, analyste
product manager, chef de produit, responsable produit
product owner, propriétaire du produit
scrum master, facilitateur agile
technical writer, rédacteur technique
research, study, recherche, étude
market, marché
competitor, competitive, competition, concurrent, concurrence
domain, industry, métier, secteur
brainstorming, ideation, ideas, idées, remue-méninges
idea, concept, idée
elicitation, deeper critique, approfondir, creuser
party mode, roundtable, *round table, *table ronde, group discussion, discussion de groupe, debate, argue, débat, débattre
design thinking, empathy, empathie
problem solving, root cause, résolution de problème, cause racine
innovation, business model, disruption, modèle économique, innover
strategy, stratégie
storytelling, narrative, récit, narration, raconter
presentation, slides, deck, pitch, diapositives, présentation
diagram, schema, diagramme, schéma
flowchart, flow chart, process diagram, organigramme, logigramme
data flow, flux de données
document, doc, documentation, documenter
write, draft, writing, rédiger, écrire, rédaction
shard, split, découper, couper, morceler
shard document, *shard the prd, *shard the architecture, *split the prd, *split the architecture, *découper le prd, *découper l'architecture
break down, découper, décomposer
index, table of contents, sommaire
template, modèle
project context, agent instructions, conventions, consignes, règles
brownfield, existing, legacy, existant, ancien
greenfield, from scratch, new project, nouveau projet, à partir de zéro
new, nouveau, nouvelle
init, initialize, start, démarrer, initialiser, commencer
help, next step, what to do next, *where to begin, *where to start, aide, par où commencer
customize, override, personnaliser, adapter
agent, persona, assistant
workflow, process, processus
module, extension
create, make, build, créer, construire, fabriquer, bâtir
edit, modify, update, modifier, éditer, mettre à jour
generate, générer
plan, planning, planifier, préparer
design, concevoir, conception
designer, concepteur
implementation, implémentation, réalisation
game, jeu, jeu vidéo
prototype, prototyper
playtest, essai de jeu
engine, moteur
player, joueur
mechanic, mécanique
novel, book, roman, livre
short story, nouvelle littéraire
chapter, chapitre
scene, scène
character, personnage
dialog, dialogue
plot, structure, intrigue
world, universe, setting, monde, univers
cover, couverture
screenplay, film script, scénario
series, saga, série
reader, lecteur
feedback, comments, retours, commentaires
editor, éditeur, correcteur
polish, grammar, style, grammaire, peaufiner
critic, critique littéraire
publish, publication, publier, parution
genre, registre
premise, prémisse, logline
solo, alone, seul
team, équipe
expert, specialist, spécialiste
orchestrator, coordination, coordonner
knowledge base, base de connaissances
unattended, autonomous, sans surveillance, autonome
decision, décision
visual, graphic, visuel, graphique
`;

export interface Phrase {
  /** Analysed. */
  terms: readonly string[];
  /** The other ways of saying it, analysed; not those that say it with the same words and more. */
  others: readonly (readonly string[])[];
  /** Set where its words mean something else together than they do alone: what they mean, in plain words. */
  plainly?: string | undefined;
}

/** What many names are made with says nothing about what one of them stands for. */
const GENERAL = new Set(analyse('document doc'));

/** The phrases by their first term, the longest first. */
export function analysedLines(): [string, Phrase[]][] {
  const known = new Map<string, Phrase[]>();
  for (const line of LINES.trim().split('\n')) {
    const idioms = new Set<string>();
    const said = line.split(',').map((phrase) => phrase.trim());
    const plainly = said.find((phrase) => !phrase.startsWith('*'));
    const analysed = said
      .map((phrase) => {
        const terms = analyse(phrase);
        if (phrase.startsWith('*')) idioms.add(terms.join(' '));
        return terms;
      })
      .filter(({ length }) => length > 0);
    const phrases = [...new Map(analysed.map((terms) => [terms.join(' '), terms])).values()];
    for (const terms of phrases) {
      const isIdiom = idioms.has(terms.join(' '));
      const others = phrases
        .filter((other) => other !== terms && !idioms.has(other.join(' ')))
        .filter((other) => isIdiom || !other.some((term) => terms.includes(term)))
        .map((other) => (other.length === 1 ? other : other.filter((term) => !GENERAL.has(term))));
      const [first] = terms;
      if (first === undefined) continue;
      push(known, first, { terms, others, ...(isIdiom ? { plainly } : {}) });
    }
  }
  for (const phrases of known.values()) phrases.sort((a, b) => b.terms.length - a.terms.length);
  return [...known];
}
