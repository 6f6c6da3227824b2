import { formatYaml } from '../../base/parse/parse.ts';
import { cell } from '../../base/text/text.ts';
import { asLine } from '../../kit/text.ts';
import type { HandoverState } from './document.ts';

export interface HandoverParts {
  id: string;
  from: string;
  to: string;
  date: string;
  signedBy: string;
  runId: string | undefined;
  language: 'fr' | 'en';
  required: readonly { name: string; path: string; criterion: string | undefined }[];
  optional: readonly { name: string; path: string }[];
  outOfScope: readonly string[];
  questions: readonly { question: string; critical: boolean; owner: string }[];
  criteria: readonly string[];
  decisions: readonly { decision: string; agent: string; date: string }[];
  context: readonly string[];
}

/** The headings are those that the kit's teams look for; the sentences below them are ours. */
function wordsIn(language: HandoverParts['language']) {
  const say = <T>(french: T, english: T): T => (language === 'fr' ? french : english);
  return {
    artefacts: say('📦 Artefacts Livrés', '📦 Delivered Artefacts'),
    required: say('✅ Requis (bloquants)', '✅ Required (blocking)'),
    optional: say('🔵 Optionnels', '🔵 Optional'),
    path: say('📁 Chemin :', '📁 Path:'),
    criterion: say("✔️ Critère d'acceptation :", '✔️ Acceptance criterion:'),
    defaultCriterion: say(
      'présent, complet et relu par l’équipe qui reçoit',
      'present, complete and read by the team that receives it',
    ),
    scope: say(
      ['🚫 Hors Périmètre', '| # | Exclusion |', '|---|---|'],
      ['🚫 Out of Scope', '| # | Exclusion |', '|---|---|'],
    ),
    questions: say(
      [
        '❓ Questions Ouvertes',
        '| # | Question | Criticité | Responsable | Statut |',
        '|---|---|---|---|---|',
      ],
      ['❓ Open Questions', '| # | Question | Weight | Owner | Status |', '|---|---|---|---|---|'],
    ),
    critical: say('🔴 Critique', '🔴 Critical'),
    important: '🟡 Important',
    waiting: say('⏳ En attente', '⏳ Pending'),
    completion: say('🔒 Critères de Complétion', '🔒 Completion Criteria'),
    decisions: say(
      ['📋 Résumé des Décisions Clés', '| Décision | Agent | Date |', '|---|---|---|'],
      ['📋 Key Decisions', '| Decision | Agent | Date |', '|---|---|---|'],
    ),
    context: say('🔑 Contexte Critique', '🔑 Critical Context'),
    signature: '✍️ Signature',
    signed: say('Signé par', 'Signed by'),
    acceptance: say('📬 Acceptation', '📬 Acceptance'),
    boxes: say(['ACCEPTÉ', 'REJETÉ', 'RENEGOCIATING'], ['ACCEPTED', 'REJECTED', 'RENEGOTIATING']),
    none: say('(aucun)', '(none)'),
  };
}

/** The contract as a file. What nobody has said stays visibly open, so that the check finds it. */
export function composeHandover(parts: HandoverParts): string {
  const words = wordsIn(parts.language);
  const front = formatYaml({
    contract_id: parts.id,
    version: '1.0',
    status: 'pending-acceptance',
    from_team: parts.from,
    to_team: parts.to,
    date: parts.date,
    signed_by: parts.signedBy,
    ...(parts.runId === undefined ? {} : { run_id: parts.runId }),
  });
  const list = (items: readonly string[]): string =>
    items.length === 0 ? words.none : items.map((item) => `- ${asLine(item)}`).join('\n');
  const table = ([title = '', ...head]: readonly string[], rows: readonly string[]): string =>
    `## ${title}\n\n${rows.length === 0 ? words.none : [...head, ...rows].join('\n')}`;
  return `${[
    `---\n${front}---`,
    `# 📜 Delivery Contract — ${parts.from} → ${parts.to}`,
    `## ${words.artefacts}`,
    `### ${words.required}`,
    parts.required
      .map(
        ({ name, path, criterion }) =>
          `- [ ] **${asLine(name)}**\n  ${words.path} \`${path}\`\n  ${words.criterion} ${asLine(criterion ?? words.defaultCriterion)}`,
      )
      .join('\n') || words.none,
    `### ${words.optional}`,
    parts.optional
      .map(({ name, path }) => `- [ ] **${asLine(name)}**\n  ${words.path} \`${path}\``)
      .join('\n') || words.none,
    table(
      words.scope,
      parts.outOfScope.map((text, index) => `| ${index + 1} | ${cell(asLine(text))} |`),
    ),
    table(
      words.questions,
      parts.questions.map(
        ({ question, critical, owner }, index) =>
          `| ${index + 1} | ${cell(asLine(question))} | ${critical ? words.critical : words.important} | ${cell(owner)} | ${words.waiting} |`,
      ),
    ),
    `## ${words.completion}\n\n${list(parts.criteria)}`,
    table(
      words.decisions,
      parts.decisions.map(
        ({ decision, agent, date }) => `| ${cell(asLine(decision))} | ${cell(agent)} | ${date} |`,
      ),
    ),
    `## ${words.context}\n\n${list(parts.context)}`,
    `## ${words.signature}\n\n${words.signed} : ${asLine(parts.signedBy) || words.none}, ${parts.date}`,
    `## ${words.acceptance}\n\n${words.boxes.map((box) => `- [ ] ${box}`).join('\n')}`,
  ].join('\n\n')}\n`;
}

interface Answer {
  status: HandoverState;
  /** The team that receives it, where nobody is named. */
  by: string | undefined;
  at: string;
  reason?: string | undefined;
}

/** What stands behind the box of a status. */
const BOX: Partial<Record<HandoverState, readonly string[]>> = {
  accepted: ['ACCEPTÉ', 'ACCEPTED'],
  rejected: ['REJETÉ', 'REJECTED'],
  renegotiating: ['RENEGOCIATING', 'RENEGOTIATING'],
};
/** How an answer is told in a contract that is in French. */
const IN_FRENCH: Readonly<Record<HandoverState, string>> = {
  'pending-acceptance': 'en attente',
  accepted: 'accepté',
  rejected: 'rejeté',
  renegotiating: 'à renégocier',
};
const FRENCH_PARTS =
  /^#+ .*(?:Artefacts Livrés|Hors Périmètre|Questions Ouvertes|Critères de Complétion|Décisions Clés|Acceptation)|\[[ x]\] (?:ACCEPTÉ|REJETÉ)/imu;
const EMPTY_BOX = /^([ \t]*[-*][ \t]+)\[ \]/;

/** The text with another status: one line of the front matter, the box, and who said so; all else stays to the byte. */
export function withStatus(text: string, { status, by, at, reason }: Answer): string {
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const isFrench = FRENCH_PARTS.test(text);
  const who = by ?? (isFrench ? 'l’équipe qui reçoit' : 'the team that receives it');
  const said = isFrench ? IN_FRENCH[status] : status;
  const why = reason === undefined ? '' : ` : ${reason.replace(/\s+/g, ' ').trim()}`;
  const ticked = withBox(
    text.replace(/^status:.*$/m, () => `status: ${status}`),
    BOX[status] ?? [],
  );
  const gap = ticked.endsWith('\n') ? '' : end;
  return `${ticked}${gap}${end}- ${at}, ${who.replace(/\s+/g, ' ')}${isFrench ? ' ' : ''}: ${said}${why}${end}`;
}

const ANSWER = /^- \d{4}-\d{2}-\d{2}, ([^\n]{1,300}?)\s?: ([a-zé -]{1,40})(?: : ([^\n]*))?$/;

/** Who has answered last and why, by the line that tells it; nothing where it was answered in another form. */
export function answerIn(text: string): { by: string; reason: string | undefined } | undefined {
  const [, by, said, reason] = ANSWER.exec(text.trimEnd().split(/\r?\n/).at(-1) ?? '') ?? [];
  const isAnswer = Object.entries(IN_FRENCH)
    .flat()
    .includes(said ?? '');
  return by === undefined || !isAnswer ? undefined : { by, reason };
}

/** Ticks the first empty box that one of the words stands behind. */
function withBox(text: string, words: readonly string[]): string {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => EMPTY_BOX.test(line) && words.some((word) => line.includes(word)));
  return lines.map((line, index) => (index === at ? line.replace(EMPTY_BOX, '$1[x]') : line)).join('\n');
}
