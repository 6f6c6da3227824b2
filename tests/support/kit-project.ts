export { writeFiles } from './folders.ts';

/** A project as the kit leaves it after some use, small, with every shape its files come in. */
export const KIT_FILES: Readonly<Record<string, string>> = {
  'project-context.yaml': 'project:\n  name: "Corner Shop"\nuser:\n  name: "Ada Field"\n',
  '_bmad/_config/custom/agents/fullstack-dev.md':
    '<!-- a note -->\n---\nname: "fullstack-dev"\n---\n```xml\n<agent id="fullstack-dev.agent.yaml" name="Stack" title="Dev">\n' +
    '  AGENT_TAG=stack | AGENT_NAME=Stack | LEARNINGS_FILE=fullstack-dev | DOMAIN_WORD=web\n```\n',
  '_bmad/_config/custom/agents/project-navigator.md':
    '```xml\n<agent id="project-navigator.agent.yaml" name="Atlas" title="Navigator">\n' +
    '  AGENT_TAG=atlas | AGENT_NAME=Atlas | LEARNINGS_FILE=project-knowledge | DOMAIN_WORD=projet\n```\n',
  '_bmad/_config/custom/agents/loop.tpl.md': 'AGENT_TAG=loop\n',
  '_bmad/_memory/agent-learnings/fullstack-dev.md':
    '# Learnings — fullstack-dev\n\n> Apprentissages accumulés par cet agent.\n\n' +
    '- [2026-02-10] Vider le cache Redis entre les tests du panier\n- Sans date du tout\n* [2026-02-20] Une puce avec astérisque',
  '_bmad/_memory/atlas-learnings.md': '- [2026-01-05] Le dépôt principal est un monorepo\n',
  '_bmad/_memory/decisions-log.md':
    '# Decisions Log\n\n## 2026-02-11\n\n| Agent | Décision | Raison |\n|---|---|---|\n| architect | PostgreSQL | ACID |\n\n' +
    '- [2026-02-27] [ARCH] Sessions sans état, jetons renouvelés\n\n### Choix du bus\n\nNATS suffit pour nos messages.\n',
  '_bmad/_memory/failure-museum.md':
    '# Museum\n\n## 🔴 Critiques\n\n<!-- Exemple :\n### [2026-01-01] [dev] CC-FAIL — exemple commenté\n-->\n\n' +
    '### [2026-02-10] [dev] CC-FAIL — Livré sans lancer les tests\n**Leçon** : toujours vérifier\n\n' +
    '## 🟡 Importantes\n\n- [2026-02-01] Une ligne ancienne\n\n## Ajouter\n\n```markdown\n### [2026-09-09] [agent] [category] — titre\n```\n',
  '_bmad/_memory/shared-context.md':
    '# Contexte\n\n## Projet\n\n- **Nom** : Corner Shop\n- **Stack** : À compléter\n\n## API\n\n- **Base** : {{api_base}}\n\n' +
    '## Conventions\n\nCommits conventionnels, branches courtes.\n',
  '_bmad/_memory/memories.json': JSON.stringify(
    [
      {
        id: 1,
        memory: 'Le module panier nécessite un verrou optimiste',
        user_id: 'ada-field',
        metadata: {
          agent: 'fullstack-dev',
          app_id: 'bmad-corner-shop',
          timestamp: '2026-03-01T10:00:00.000000',
        },
        created_at: '2026-03-01T10:00:00.000001',
      },
      {
        id: 'b3f',
        text: 'Textes du SDK, autre forme',
        tags: ['sdk'],
        agent: 'atlas',
        type: 'decisions',
        timestamp: '2026-03-02T10:00:00',
      },
      { id: 3, memory: 'Ancienne vérité remplacée', metadata: { superseded: true } },
    ],
    null,
    2,
  ),
  '_bmad/_memory/activity.jsonl': '',
};
