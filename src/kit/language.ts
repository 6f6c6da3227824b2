import { plainTitle } from './markdown.ts';

/** The words of the files in one language. The kit's own tools look for the French ones, or for both. */
export type Wording = typeof FRENCH;

const FRENCH_SEVERITIES = {
  critical: '🔴 Top Erreurs Critiques',
  important: '🟡 Erreurs Importantes',
  micro: '🟢 Micro-Erreurs',
};
const ENGLISH_SEVERITIES = {
  critical: '🔴 Critical Failures',
  important: '🟡 Important Failures',
  micro: '🟢 Micro-Failures',
};

const emptyMuseum = (title: string, severities: Record<string, string>): string =>
  `# ${title}\n\n${Object.values(severities)
    .map((heading) => `## ${heading}\n\n---\n`)
    .join('\n')}`;

/** Of a section: its heading, what it is about, and the text for an empty one. */
const section = (...parts: [heading: string, about: string, none: string]): typeof parts => parts;

export const FRENCH = {
  museum: {
    newPage: emptyMuseum('🏛️ Failure Museum', FRENCH_SEVERITIES),
    severities: FRENCH_SEVERITIES,
    happened: "Ce qui s'est passé",
    cause: 'Cause racine',
    impact: 'Impact',
    lesson: 'Leçon',
    fix: 'Correctif',
    rule: 'Règle instaurée',
    status: 'Statut',
  },
  session: {
    title: 'État de Session',
    note: 'État de la dernière session ; les précédentes sont dans `session-summaries/`.',
    last: 'Dernière Session',
    columns: ['Champ', 'Valeur'] as [string, string],
    agent: 'Agent',
    date: 'Date',
    duration: 'Durée estimée',
    work: section('Travail effectué', 'Ce qui a été fait', '(aucune action enregistrée)'),
    files: section('Fichiers modifiés', 'Fichiers touchés', '(aucun)'),
    state: section('État actuel', 'Ce qui marche, ce qui ne marche pas', '(aucun état enregistré)'),
    next: section('Prochaine étape recommandée', 'Par où reprendre', '(aucune recommandation)'),
    requests: section('Requêtes inter-agents générées', 'Ce qui est demandé à d’autres agents', '(aucune)'),
  },
  requests: 'Requêtes inter-agents',
  /** What a file of learnings says it is. */
  learnings: 'Apprentissages accumulés par cet agent.',
};

export const ENGLISH: Wording = {
  museum: {
    newPage: emptyMuseum('🏛️ Failure Museum', ENGLISH_SEVERITIES),
    severities: ENGLISH_SEVERITIES,
    happened: 'What happened',
    cause: 'Root cause',
    impact: 'Impact',
    lesson: 'Lesson',
    fix: 'Fix',
    rule: 'Rule',
    status: 'Status',
  },
  session: {
    title: 'Session State',
    note: 'The state after the last session; those before it are in `session-summaries/`.',
    last: 'Last Session',
    columns: ['Field', 'Value'],
    agent: 'Agent',
    date: 'Date',
    duration: 'Estimated duration',
    work: section('Work done', 'What was done', '(nothing recorded)'),
    files: section('Files changed', 'Files that were touched', '(none)'),
    state: section('Current state', 'What works and what does not', '(no state recorded)'),
    next: section('Recommended next step', 'Where to go on', '(no recommendation)'),
    requests: section('Inter-agent requests', 'What is asked of other agents', '(none)'),
  },
  requests: 'Inter-Agent Requests',
  learnings: 'What this agent has learnt.',
};

const ENGLISH_WORDS =
  /\b(?:critical|important failures|failures|errors|what happened|root cause|lesson|last session|work done|current state|next step|inter-agent requests|statistics)\b/g;
const FRENCH_WORDS =
  /\b(?:critiques?|erreurs|ce qui s'est passe|cause racine|lecon|derniere session|travail effectue|etat actuel|prochaine etape|requetes|statistiques)\b/g;

/** The language that the headings of a file are in; where they do not tell, the other one. */
export function languageOf(text: string | undefined, otherwise: Wording): Wording {
  const headings = (text ?? '')
    .split(/\r?\n/)
    .filter((line) => /^#{1,3}\s|^\s*(?:[-*]\s+)?\*\*/.test(line))
    .map(plainTitle)
    .join('\n');
  const french = headings.match(FRENCH_WORDS)?.length ?? 0;
  const english = headings.match(ENGLISH_WORDS)?.length ?? 0;
  if (french === english) return otherwise;
  return french > english ? FRENCH : ENGLISH;
}
