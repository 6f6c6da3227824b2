import { formatYaml } from '../../base/parse/parse.ts';
import { cell } from '../../base/text/text.ts';
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
const FRENCH = {
  artefacts: '📦 Artefacts Livrés',
  required: '✅ Requis (bloquants)',
  optional: '🔵 Optionnels',
  path: '📁 Chemin :',
  criterion: "✔️ Critère d'acceptation :",
  defaultCriterion: 'présent, complet et relu par l’équipe qui reçoit',
  scope: ['🚫 Hors Périmètre', '| # | Exclusion |', '|---|---|'],
  questions: [
    '❓ Questions Ouvertes',
    '| # | Question | Criticité | Responsable | Statut |',
    '|---|---|---|---|---|',
  ],
  critical: '🔴 Critique',
  important: '🟡 Important',
  waiting: '⏳ En attente',
  completion: '🔒 Critères de Complétion',
  decisions: ['📋 Résumé des Décisions Clés', '| Décision | Agent | Date |', '|---|---|---|'],
  context: '🔑 Contexte Critique',
  signature: '✍️ Signature',
  signed: 'Signé par',
  acceptance: '📬 Acceptation',
  boxes: ['ACCEPTÉ', 'REJETÉ', 'RENEGOCIATING'],
  none: '(aucun)',
};

const ENGLISH: typeof FRENCH = {
  artefacts: '📦 Delivered Artefacts',
  required: '✅ Required (blocking)',
  optional: '🔵 Optional',
  path: '📁 Path:',
  criterion: '✔️ Acceptance criterion:',
  defaultCriterion: 'present, complete and read by the team that receives it',
  scope: ['🚫 Out of Scope', '| # | Exclusion |', '|---|---|'],
  questions: ['❓ Open Questions', '| # | Question | Weight | Owner | Status |', '|---|---|---|---|---|'],
  critical: '🔴 Critical',
  important: '🟡 Important',
  waiting: '⏳ Pending',
  completion: '🔒 Completion Criteria',
  decisions: ['📋 Key Decisions', '| Decision | Agent | Date |', '|---|---|---|'],
  context: '🔑 Critical Context',
  signature: '✍️ Signature',
  signed: 'Signed by',
  acceptance: '📬 Acceptance',
  boxes: ['ACCEPTED', 'REJECTED', 'RENEGOTIATING'],
  none: '(none)',
};

/** The contract as a file. What nobody has said stays visibly open, so that the check finds it. */
export function composeHandover(parts: HandoverParts): string {
  const words = parts.language === 'fr' ? FRENCH : ENGLISH;
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
    items.length === 0 ? words.none : items.map((item) => `- ${line(item)}`).join('\n');
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
          `- [ ] **${line(name)}**\n  ${words.path} \`${path}\`\n  ${words.criterion} ${line(criterion ?? words.defaultCriterion)}`,
      )
      .join('\n') || words.none,
    `### ${words.optional}`,
    parts.optional
      .map(({ name, path }) => `- [ ] **${line(name)}**\n  ${words.path} \`${path}\``)
      .join('\n') || words.none,
    table(
      words.scope,
      parts.outOfScope.map((text, index) => `| ${index + 1} | ${cell(line(text))} |`),
    ),
    table(
      words.questions,
      parts.questions.map(
        ({ question, critical, owner }, index) =>
          `| ${index + 1} | ${cell(line(question))} | ${critical ? words.critical : words.important} | ${cell(owner)} | ${words.waiting} |`,
      ),
    ),
    `## ${words.completion}\n\n${list(parts.criteria)}`,
    table(
      words.decisions,
      parts.decisions.map(
        ({ decision, agent, date }) => `| ${cell(line(decision))} | ${cell(agent)} | ${date} |`,
      ),
    ),
    `## ${words.context}\n\n${list(parts.context)}`,
    `## ${words.signature}\n\n${words.signed} : ${line(parts.signedBy) || words.none}, ${parts.date}`,
    `## ${words.acceptance}\n\n${words.boxes.map((box) => `- [ ] ${box}`).join('\n')}`,
  ].join('\n\n')}\n`;
}

/** A caller's text cannot begin a heading, a row or a comment. */
function line(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('<!--', '&lt;!--').replaceAll('-->', '--&gt;').trim();
}

interface Answer {
  status: HandoverState;
  by: string;
  at: string;
  reason?: string | undefined;
}

const BOX: Partial<Record<HandoverState, RegExp>> = {
  accepted: /^(\s*[-*]\s+)\[ \](?=.*(?:ACCEPTÉ|ACCEPTED))/m,
  rejected: /^(\s*[-*]\s+)\[ \](?=.*(?:REJETÉ|REJECTED))/m,
  renegotiating: /^(\s*[-*]\s+)\[ \](?=.*(?:RENEGOCIATING|RENEGOTIATING))/m,
};

/** The text with another status: one line of the front matter, the box, and who said so; all else stays to the byte. */
export function withStatus(text: string, { status, by, at, reason }: Answer): string {
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const why = reason === undefined ? '' : ` : ${reason.replace(/\s+/g, ' ').trim()}`;
  const ticked = text
    .replace(/^status:.*$/m, () => `status: ${status}`)
    .replace(BOX[status] ?? /$^/, (_box, bullet: string) => `${bullet}[x]`);
  const gap = ticked.endsWith('\n') ? '' : end;
  return `${ticked}${gap}${end}- ${at}, ${by.replace(/\s+/g, ' ')}: ${status}${why}${end}`;
}
