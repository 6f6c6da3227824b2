import { asLine } from '../kit-text.ts';
import { museumIn, type Failure } from './museum.ts';

const HEAD = [
  '# Failure Museum',
  '',
  '> Les échecs du projet, leur cause et la règle qui en est née.',
  '> Généré depuis `failure-museum.jsonl` : ajouter une entrée au journal, pas ici.',
  '',
  '---',
  '',
].join('\n');

const FIELD =
  /^- \*\*(?:Date|Sévérité|Agent\(s\) impliqué\(s\)|Description|Cause racine|Correctif|Règle ajoutée|Tags|Statut)\*\*:/;

/**
 * Whether a page was made from the log: it has nothing but numbered entries with their fields, and the log has them all.
 * Anything else was written by a person and would be lost.
 */
export function isGenerated(page: string, log: readonly Failure[]): boolean {
  const start = page.search(/^## /m);
  const entries = start < 0 ? '' : page.slice(start);
  const head = start < 0 ? page : page.slice(0, start);
  const isPlainHead = head.split(/\r?\n/).every((line) => /^(?:#\s.*|>.*|-{3,}\s*|\s*)$/.test(line));
  const isPlainBody = entries
    .split(/\r?\n/)
    .every((line) => /^(?:## FM-\d+ .*|-{3,}\s*|\s*)$/.test(line) || FIELD.test(line));
  const ids = new Set(log.map(({ id }) => id));
  return isPlainHead && isPlainBody && museumIn(page, '').every(({ id }) => ids.has(id));
}

export const LOG_WORD = { critical: 'high', important: 'medium', micro: 'low', unknown: 'medium' } as const;

/** The page generated from the log; the text above the entries is preserved. */
export function formatPage(log: readonly Failure[], page: string | undefined): string {
  const start = page?.search(/^## /m) ?? -1;
  const head =
    page === undefined || page.trim() === ''
      ? HEAD
      : start < 0
        ? `${page.trimEnd()}\n\n`
        : page.slice(0, start);
  const entries = log.map(
    ({ id, heading, date, severity, agents, happened, cause, fix, rule, tags, status }) =>
      [
        `## ${id ?? 'FM-000'} — ${asLine(heading)}`,
        `- **Date**: ${date?.slice(0, 10) ?? ''}`,
        `- **Sévérité**: ${LOG_WORD[severity]}`,
        `- **Agent(s) impliqué(s)**: ${agents.join(', ') || 'unknown'}`,
        `- **Description**: ${asLine(happened ?? '')}`,
        `- **Cause racine**: ${asLine(cause ?? '')}`,
        `- **Correctif**: ${asLine(fix ?? '')}`,
        `- **Règle ajoutée**: ${asLine(rule ?? '')}`,
        ...(tags.length === 0 ? [] : [`- **Tags**: ${tags.join(', ')}`]),
        `- **Statut**: ${status === 'unknown' ? 'resolved' : status}`,
        '',
        '---',
        '',
      ].join('\n'),
  );
  const text = `${head}${entries.join('\n')}`;
  return page?.includes('\r\n') === true ? text.replace(/\r?\n/g, '\r\n') : text;
}
