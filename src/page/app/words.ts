import { signal } from '@preact/signals';

const en = {
  board: 'Next steps',
  catalogue: 'Catalogue',
  decision: 'Decision',
  loading: 'Loading',
  nothingLeft: 'Everything that was planned is done.',
  optional: 'optional',
  start: 'Start',
  start_this: (what: string) => `Start: ${what}`,
  sent: 'Sent to the conversation',
  refused: 'The host did not take it. Type it in the conversation:',
  phases: {
    analysis: 'Analysis',
    planning: 'Planning',
    solutioning: 'Solutioning',
    implementation: 'Implementation',
  },
  states: { complete: 'complete', 'in progress': 'in progress', 'not started': 'not started' },
  stories: (done: number, all: number) => `${done} of ${all} stories done`,
  columns: { backlog: 'Backlog', ready: 'Ready', progress: 'In progress', review: 'Review', done: 'Done' },
  more: (count: number) => `${count} more`,
  drift: (count: number) =>
    `${count} ${count === 1 ? 'place' : 'places'} where the project contradicts itself`,
  search: 'Search agents and workflows',
  kinds: { agents: 'Agents', workflows: 'Workflows', tasks: 'Tasks', modules: 'Modules' },
  none: 'Nothing found.',
  total: (count: number) => `${count} found`,
  showMore: 'Show more',
  recommended: 'recommended',
  evidence: 'Evidence',
  choose: 'Choose',
  notApproval:
    'Your choice goes into the conversation as your message. It approves nothing: tasks, sources, deliveries and programs are approved with "bmad page" or in a terminal.',
  retry: 'Try again',
};

export type AppWords = typeof en;

const fr: AppWords = {
  board: 'Prochaines étapes',
  catalogue: 'Catalogue',
  decision: 'Décision',
  loading: 'Chargement',
  nothingLeft: 'Tout ce qui était prévu est terminé.',
  optional: 'facultatif',
  start: 'Démarrer',
  start_this: (what) => `Démarrer : ${what}`,
  sent: 'Envoyé dans la conversation',
  refused: 'L’hôte ne l’a pas accepté. Saisissez-le dans la conversation :',
  phases: {
    analysis: 'Analyse',
    planning: 'Planification',
    solutioning: 'Conception',
    implementation: 'Réalisation',
  },
  states: { complete: 'terminé', 'in progress': 'en cours', 'not started': 'pas commencé' },
  stories: (done, all) => `${done} ${done > 1 ? 'stories terminées' : 'story terminée'} sur ${all}`,
  columns: {
    backlog: 'En réserve',
    ready: 'Prêtes',
    progress: 'En cours',
    review: 'En revue',
    done: 'Terminées',
  },
  more: (count) => `${count} de plus`,
  drift: (count) => `${count} ${count === 1 ? 'endroit' : 'endroits'} où le projet se contredit`,
  search: 'Chercher un agent ou un workflow',
  kinds: { agents: 'Agents', workflows: 'Workflows', tasks: 'Tâches', modules: 'Modules' },
  none: 'Rien de trouvé.',
  total: (count) => `${count} trouvés`,
  showMore: 'Afficher la suite',
  recommended: 'recommandé',
  evidence: 'Preuves',
  choose: 'Choisir',
  notApproval:
    'Votre choix part dans la conversation comme votre message. Il n’approuve rien : tâches, sources, livraisons et programmes s’approuvent avec « bmad page » ou dans un terminal.',
  retry: 'Réessayer',
};

export const words = signal<AppWords>(en);

export function speak(locale: string | undefined): void {
  const wanted = locale ?? navigator.language;
  words.value = wanted.toLowerCase().startsWith('fr') ? fr : en;
  document.documentElement.lang = words.value === fr ? 'fr' : 'en';
}
