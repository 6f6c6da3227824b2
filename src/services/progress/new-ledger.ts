import { basename, posix } from 'node:path';
import { yamlText } from '../../base/parse/parse.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { ledgerTime } from './clerk.ts';
import type { Report } from './report.ts';
import { FIRST_WORD, type RowKind } from './words.ts';
import { Workers } from './workers.ts';

/** A row that the epics ask for. */
export interface PlannedRow {
  key: string;
  kind: RowKind;
  epic: number;
  story: string;
}

interface Making {
  root: string;
  report: Report;
  catalogue: Catalogue;
  now: Date;
}

/** A new ledger, in the form that the project's own version of sprint planning gives it. */
export async function newLedger(
  rows: readonly PlannedRow[],
  hasFile: (row: PlannedRow) => boolean,
  { root, report, catalogue, now }: Making,
): Promise<string> {
  const { folder, stories, project = basename(root) } = report.locations.sprint;
  const date = ledgerTime(now);
  const values: Record<string, string> = {
    generated: date,
    last_updated: date,
    project,
    project_key: 'NOKEY',
    tracking_system: 'file-system',
    story_location: stories === '' ? folder : stories,
  };
  const form = await ledgerForm(catalogue);
  const drafts = form.legend.some((line) => /\bdrafted\b/.test(line));
  const written = drafts ? 'drafted' : 'ready-for-dev';
  const lines = rows.flatMap((row, index) => {
    const word = row.kind === 'story' && hasFile(row) ? written : FIRST_WORD[row.kind];
    return [...(row.kind === 'epic' && index > 0 ? [''] : []), `  ${yamlText(row.key)}: ${word}`];
  });
  const fields = form.fields.map((name) => `${name}: ${yamlText(values[name] ?? '')}`);
  // Versions without a script have the fields a second time, as comments, and blank lines between the parts.
  const all = form.isScripted
    ? [...form.legend, ...fields, 'development_status:', ...lines]
    : [
        ...fields.map((line) => `# ${line}`),
        '',
        ...form.legend,
        '',
        ...fields,
        '',
        'development_status:',
        ...lines,
      ];
  return `${all.join('\n')}\n`;
}

interface LedgerForm {
  legend: string[];
  fields: string[];
  isScripted: boolean;
}

const FIELDS = ['generated', 'last_updated', 'project', 'project_key', 'tracking_system', 'story_location'];

/** The legend and the fields that the project's sprint planning has: in its text, or where a script writes it in its template. */
async function ledgerForm(catalogue: Catalogue): Promise<LedgerForm> {
  const record = new Workers(catalogue).for('sprint planning', false)?.record;
  if (record === undefined) return { legend: [], fields: FIELDS, isScripted: true };
  const files = catalogue.files.preferring(record.origin);
  const paths = await files.below(posix.dirname(record.bmadRelativePath));
  const isScripted = paths.some((path) => path.endsWith('/scripts/sprint_plan.py'));
  const candidates = paths.filter((path) => (isScripted ? /template\.yaml$/ : /\.(?:md|yaml)$/).test(path));
  for (const path of candidates.sort((a, b) => Number(b.endsWith('.md')) - Number(a.endsWith('.md')))) {
    const lines = (await files.read(path)).bytes.toString('utf8').split(/\r?\n/);
    const from = lines.findIndex((line) => line.startsWith('# STATUS DEFINITIONS'));
    if (from === -1) continue;
    const count = lines.slice(from).findIndex((line) => !line.startsWith('#'));
    const legend = lines.slice(from, from + count);
    const fields = FIELDS.filter((name) => lines.slice(from).some((line) => line.startsWith(`${name}:`)));
    // The script leaves the mark of a comment out where its line is empty.
    return {
      legend: isScripted ? legend.map((line) => (line === '#' ? '' : line)) : legend,
      fields,
      isScripted,
    };
  }
  return { legend: [], fields: FIELDS, isScripted: true };
}
