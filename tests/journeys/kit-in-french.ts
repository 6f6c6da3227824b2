import type { Journey } from '../support/journey.ts';

/** A project of the custom kit, in French: from "where are we" to work that is handed over. */
export const KIT_IN_FRENCH: Journey = {
  name: 'of a project of the kit, in French',
  tokens: 7_800,
  moves: [
    {
      wants: 'où en sommes-nous',
      call: ['bmad', { operation: 'next' }],
      never: ['nothing of BMAD'],
      atMost: 900,
    },
    {
      wants: 'le contexte du projet',
      call: ['get_project_context', {}],
      says: ['Corner Shop', 'Ada Field', 'Français', 'PostgreSQL'],
      atMost: 1_100,
    },
    {
      wants: 'les agents',
      call: ['bmad', { operation: 'list', query: 'agents' }],
      says: ['fullstack-dev', 'Atlas'],
      atMost: 1_400,
    },
    {
      wants: 'le développeur',
      call: ['bmad', { operation: 'execute', agent: 'fullstack-dev', message: 'corrige le panier' }],
      says: ['corrige le panier', 'Français'],
      atMost: 1_600,
    },
    {
      wants: 'la base de données choisie',
      call: ['recall_structured', { query: 'base de données' }],
      says: ['PostgreSQL'],
      atMost: 1_400,
    },
    {
      wants: 'garder une décision',
      call: [
        'remember_structured',
        { type: 'décisions', agent: 'architecte', text: 'On abandonne JWT pour des sessions côté serveur' },
      ],
      refused: true,
      says: ['decisions'],
      atMost: 400,
    },
    {
      wants: 'garder une décision, comme il faut',
      call: [
        'remember_structured',
        { type: 'decision', agent: 'architect', text: 'On abandonne JWT pour des sessions côté serveur' },
      ],
      // With the three nearest memories, and how to settle each.
      atMost: 950,
    },
    {
      wants: 'ce qui a échoué',
      call: ['recall_structured', { query: 'livré sans tests', type: 'failure' }],
      says: ['Livré sans lancer les tests'],
      atMost: 500,
    },
    {
      wants: 'l’architecte',
      call: ['bmad', { operation: 'execute', agent: 'architecte', message: 'revois les sessions' }],
      says: ['Winston', 'revois les sessions'],
      // Son texte entier, avec les étapes déjà faites.
      atMost: 7_200,
    },
    {
      wants: 'confier une relecture',
      call: [
        'spawn_subagent_task',
        { agent: 'fullstack-dev', task: 'Relis le verrou du panier', output_key: 'relecture_panier' },
      ],
      says: ['relecture_panier'],
      atMost: 600,
    },
    {
      wants: 'prendre la tâche',
      call: ['manage_project', { action: 'task_claim', arguments: { worker: 'relecteur' } }],
      says: ['Relis le verrou du panier', 'Français', 'PostgreSQL'],
      atMost: 1_400,
    },
    {
      wants: 'prendre encore une tâche',
      call: ['manage_project', { action: 'task_claim', arguments: { worker: 'relecteur' } }],
      atMost: 500,
    },
    {
      wants: 'clore la session',
      call: [
        'manage_project',
        {
          action: 'save_session',
          args: { agent: 'fullstack-dev', summary: 'Sessions revues, verrou relu', next: 'Livrer le panier' },
        },
      ],
      atMost: 300,
    },
    {
      wants: 'ce qui vient ensuite',
      call: ['bmad', { operation: 'next' }],
      says: ['Livrer le panier'],
      atMost: 1_000,
    },
  ],
};
