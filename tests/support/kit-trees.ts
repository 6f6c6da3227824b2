/** Files of projects in the shapes that the kit's installers and their users leave. */

/** A page of the shared context as the web template makes it, twice, with what somebody has filled in. */
export const WEB_CONTEXT = `# Contexte Partagé — {{project_name}}

<!-- Instructions of the template
## Not a heading
-->

## Projet

- **Nom** : {{project_name}}
- **Type** : Web App — {{app_type}}

## Stack Technique

| Couche | Technologie | Version | Répertoire |
|--------|-------------|---------|------------|
| Frontend | React | {{frontend_version}} | \`web\` |
| Backend | {{backend_tech}} | {{backend_version}} | \`{{backend_dir}}\` |
| Cache | — | — | — |

## Architecture

\`\`\`
{{project_name}}/
## inside a fence
\`\`\`

## API

- **Format** : JSON

### Routes principales

| Méthode | Route | Description |
|---------|-------|-------------|
| GET | \`/{{resource_1}}\` | Lister {{resource_1}} |

## Équipe d’Agents Custom

> Complétez avec les agents réellement déployés

| Agent | Nom | Icône | Domaine |
|-------|-----|-------|---------|
| project-navigator | Atlas | 🗺️ | Navigation |
| go-expert _(si stack Go)_ | Gopher | 🐹 | Backend Go |

## Requêtes inter-agents

<!-- [AGENT_SOURCE→AGENT_CIBLE] description -->

- [ ] [stack→qa] tests E2E du panier
- [x] [qa->stack] corriger le total
- [ ] [stack→?] audit accessibilité
[atlas→] cartographier les services

<!-- Ajout archétype infra-ops : 2026-11-15 -->
# Contexte Partagé — {{project_name}}

## Projet

- **Description** : Une boutique

## Infrastructure

| Hôte | IP | Rôle | Services |
|------|----|------|----------|
| web-1 | 10.0.0.1 | front | nginx |

## Équipe d'Agents Custom

| Agent | Nom | Icône | Domaine |
|-------|-----|-------|---------|
| ops-engineer | Forge | 🔧 | Infra |
`;

/** A museum as the kit installs it: all that looks like an entry is an example. */
export const NEW_MUSEUM = `# 🏛️ Failure Museum — Demo

> Format : \`[YYYY-MM-DD] [agent] [category]\`

---

## 🔴 Top Erreurs Critiques (à lire ABSOLUMENT)

<!-- Exemple :
### [2026-02-10] [dev] CC-FAIL — exemple
**Leçon** : exemple
-->

*(Aucune erreur critique enregistrée)*

---

## 🟡 Erreurs Importantes (à connaître)

*(Aucune erreur importante enregistrée)*

---

## 🟢 Micro-Erreurs (signaux faibles)

*(Aucune micro-erreur enregistrée)*

---

## 📊 Statistiques

| Catégorie | Occurrences | Dernière date |
|---|---|---|
| CC-FAIL | 0 | — |

## 🛠️ Ajouter une entrée

\`\`\`markdown
### [2026-09-09] [agent] [category] — [titre court]
**Leçon** : ce qu'on fait
\`\`\`
`;

const FM = (sequence: number, more: object): string =>
  JSON.stringify({
    failure_id: `FM-00${sequence}`,
    sequence,
    timestamp: `2026-03-0${sequence}T10:00:00+00:00`,
    title: `Échec ${sequence}`,
    severity: 'medium',
    agents: ['dev'],
    description: 'ce qui est arrivé',
    root_cause: 'pourquoi',
    fix: 'le correctif',
    rule_added: '',
    tags: [],
    status: 'resolved',
    ...more,
  });

/** A project of the other family, with a museum that its own tool writes. */
export const GRIMOIRE_FILES: Readonly<Record<string, string>> = {
  'project-context.yaml':
    'project:\n  name: "Grim Shop"\n  type: webapp\n  stack: [go, docker]\nuser:\n  name: Ada\n  skill_level: expert\nagents:\n  archetype: web-app\n  custom_agents: [pricing-expert]\ngrimoire_kit_version: "3.32.0"\n',
  '_grimoire/_memory/failure-museum.jsonl': `${FM(1, { severity: 'low', rule_added: 'Une règle' })}\n${FM(2, { severity: 'high', status: 'open', tags: ['CC-FAIL'] })}\n`,
  '_grimoire/_memory/failure-museum.md':
    '# Failure Museum\n\n> Un en-tête à garder.\n\n---\n\n## FM-001 — Échec 1\n- **Date**: 2026-03-01\n- **Sévérité**: low\n- **Agent(s) impliqué(s)**: dev\n- **Description**: ce qui est arrivé\n- **Cause racine**: pourquoi\n- **Correctif**: le correctif\n- **Règle ajoutée**: Une règle\n- **Statut**: resolved\n\n---\n',
  '_grimoire/_memory/decisions-log.md': '- [2026-03-01] Files d’attente NATS\n',
  '_grimoire-output/Grimoire_TRACE.md': '# Grimoire_TRACE — Audit Trail\n',
};
