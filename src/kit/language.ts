import { plainTitle } from './markdown.ts';

/** The words of the files in one language. The kit's own tools look for the French ones, or for both. */
export type Wording = ReturnType<typeof wordingIn>;

/** Of a section: its heading, what it is about, and the text for an empty one. */
type Section = [heading: string, about: string, none: string];

function wordingIn(language: 'French' | 'English') {
  const say = <T>(french: T, english: T): T => (language === 'French' ? french : english);
  const section = (french: Section, english: Section): Section => say(french, english);
  const severities = {
    critical: say('🔴 Top Erreurs Critiques', '🔴 Critical Failures'),
    important: say('🟡 Erreurs Importantes', '🟡 Important Failures'),
    micro: say('🟢 Micro-Erreurs', '🟢 Micro-Failures'),
  };
  const shelves = Object.values(severities).map((heading) => `## ${heading}\n\n---\n`);
  return {
    museum: {
      newPage: `# 🏛️ Failure Museum\n\n${shelves.join('\n')}`,
      severities,
      happened: say("Ce qui s'est passé", 'What happened'),
      cause: say('Cause racine', 'Root cause'),
      impact: 'Impact',
      lesson: say('Leçon', 'Lesson'),
      fix: say('Correctif', 'Fix'),
      rule: say('Règle instaurée', 'Rule'),
      status: say('Statut', 'Status'),
      statuses: {
        open: say('ouvert', 'open'),
        resolved: say('résolu', 'resolved'),
        wontfix: say('sans suite', 'wontfix'),
      },
    },
    session: {
      title: say('État de Session', 'Session State'),
      note: say(
        'État de la dernière session ; les précédentes sont dans `session-summaries/`.',
        'The state after the last session; those before it are in `session-summaries/`.',
      ),
      last: say('Dernière Session', 'Last Session'),
      columns: say<[string, string]>(['Champ', 'Valeur'], ['Field', 'Value']),
      agent: 'Agent',
      date: 'Date',
      duration: say('Durée estimée', 'Estimated duration'),
      work: section(
        ['Travail effectué', 'Ce qui a été fait', '(aucune action enregistrée)'],
        ['Work done', 'What was done', '(nothing recorded)'],
      ),
      files: section(
        ['Fichiers modifiés', 'Fichiers touchés', '(aucun)'],
        ['Files changed', 'Files that were touched', '(none)'],
      ),
      state: section(
        ['État actuel', 'Ce qui marche, ce qui ne marche pas', '(aucun état enregistré)'],
        ['Current state', 'What works and what does not', '(no state recorded)'],
      ),
      next: section(
        ['Prochaine étape recommandée', 'Par où reprendre', '(aucune recommandation)'],
        ['Recommended next step', 'Where to go on', '(no recommendation)'],
      ),
      requests: section(
        ['Requêtes inter-agents générées', 'Ce qui est demandé à d’autres agents', '(aucune)'],
        ['Inter-agent requests', 'What is asked of other agents', '(none)'],
      ),
    },
    requests: say('Requêtes inter-agents', 'Inter-Agent Requests'),
    /** What the log of contradictions says was done. */
    contradictions: { replacedBy: say('Remplacée par :', 'Replaced by:') },
    /** What a file of learnings says it is. */
    learnings: say('Apprentissages accumulés par cet agent.', 'What this agent has learnt.'),
  };
}

export const FRENCH = wordingIn('French');
export const ENGLISH = wordingIn('English');

const ENGLISH_WORDS =
  /\b(?:critical|important failures|failures|errors|what happened|root cause|lesson|last session|work done|current state|next step|inter-agent requests|statistics|resolved contradictions|contradictions resolved)\b/g;
const FRENCH_WORDS =
  /\b(?:critiques?|erreurs|ce qui s'est passe|cause racine|lecon|derniere session|travail effectue|etat actuel|prochaine etape|requetes|statistiques|contradictions resolues)\b/g;

/** Of a page with thousands of entries, the first tell its language as well as all of them. */
const TELLING = 50_000;

/** The language that the headings of a file are in; where they do not tell, the other one. */
export function languageOf(text: string | undefined, otherwise: Wording): Wording {
  const headings = (text?.slice(0, TELLING) ?? '')
    .split(/\r?\n/)
    .filter((line) => /^#{1,3}\s|^\s*(?:[-*]\s+)?\*\*/.test(line))
    .map(plainTitle)
    .join('\n');
  const french = headings.match(FRENCH_WORDS)?.length ?? 0;
  const english = headings.match(ENGLISH_WORDS)?.length ?? 0;
  if (french === english) return otherwise;
  return french > english ? FRENCH : ENGLISH;
}
