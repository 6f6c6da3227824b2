import { t } from '../../base/text/message.ts';
import { type YamlPair } from '../../base/parse/parse-places.ts';
import { PHASES, type ItemKind, type Phase } from './model.ts';
import { type BrokenLedger, ledgerPairs } from './sprint-ledger.ts';

/** One workflow in `bmm-workflow-status.yaml` of the 6.0 alphas. */
interface WorkflowRow {
  id: string;
  kind: ItemKind | undefined;
  word: string;
  /** What the word says: not done yet, done with a file, done, left out on purpose, or nothing that is known. */
  says: 'open' | 'file' | 'done' | 'skipped' | 'invalid';
  required: boolean;
  line: number;
  pair: YamlPair;
}

export interface WorkflowLedger {
  file: string;
  text: string;
  rows: WorkflowRow[];
  /** What the older form in Markdown says about whole phases. */
  phases: { phase: Phase; complete: boolean; line: number }[];
}

/** What is made, and the workflows of the ledgers that make it. */
const WORKFLOWS: readonly (readonly [ItemKind, readonly string[]])[] = [
  ['research', ['brainstorm-project', 'brainstorm', 'research', 'domain-research']],
  ['brief', ['product-brief', 'create-product-brief', 'game-brief']],
  ['prd', ['prd', 'create-prd', 'gdd']],
  ['spec', ['tech-spec', 'create-tech-spec']],
  ['ux', ['create-design', 'ux-design', 'create-ux-design']],
  ['architecture', ['architecture', 'create-architecture', 'game-architecture']],
  ['epics', ['create-epics-and-stories']],
  ['readiness', ['solutioning-gate-check', 'implementation-readiness', 'check-implementation-readiness']],
  ['sprint', ['sprint-planning']],
];

const OPEN =
  /^(?:required|optional|recommended|conditional|pending|not[-_ ]started|in[-_ ]progress|if_\w+)$/i;

export function readWorkflowLedger(file: string, text: string): WorkflowLedger | BrokenLedger {
  if (/\.md$/i.test(file) && text.trim() !== '') return { file, text, rows: [], phases: phaseLines(text) };
  const found = ledgerPairs(file, text, 'workflow_status');
  if ('broken' in found) return found;
  const { pairs, items, line } = found.rows;
  const rows = [...pairs.map(fromPair), ...items.flatMap(fromItem)];
  return rows.length === 0
    ? { broken: { file, line, says: t`"workflow_status" lists no workflows` } }
    : { file, text, rows, phases: [] };
}

/** `prd: required`, or `prd: { status: required, … }`. */
function fromPair(pair: YamlPair): WorkflowRow {
  return rowOf(pair.key, pair.line, pair.pairs.find(({ key }) => key === 'status') ?? pair);
}

/** `- id: prd` with a status beside it, or `- prd: required`. */
function fromItem(item: YamlPair[]): WorkflowRow[] {
  const id = item.find(({ key }) => key === 'id' || key === 'workflow' || key === 'name');
  const status = item.find(({ key }) => key === 'status');
  if (id !== undefined && status !== undefined) return [rowOf(String(id.value), id.line, status)];
  const [only] = item;
  return item.length === 1 && only !== undefined ? [fromPair(only)] : [];
}

function rowOf(id: string, line: number, pair: YamlPair): WorkflowRow {
  const word = String(pair.value ?? '').trim();
  const says = OPEN.test(word)
    ? 'open'
    : /^skipped$/i.test(word)
      ? 'skipped'
      : /^(?:complete|completed|done)$/i.test(word)
        ? 'done'
        : /\/|\.\w{2,5}$/.test(word) && !word.includes('{{')
          ? 'file'
          : 'invalid';
  const kind = WORKFLOWS.find(([, names]) => names.includes(id.toLowerCase()))?.[0];
  return { id, kind, word, says, required: /^required$/i.test(word), line: pair.line || line, pair };
}

/** The first alphas kept lines like `PHASE_2_COMPLETE: true` in a Markdown file. */
function phaseLines(text: string): WorkflowLedger['phases'] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    const [, number = '', between = '', word = ''] =
      /^\W*PHASE_([1-4])_COMPLETE(\W*)(true|false|yes|no)\b/i.exec(line) ?? [];
    const phase = PHASES[Number(number) - 1];
    return phase === undefined || !between.includes(':')
      ? []
      : [{ phase, complete: /^(?:true|yes)$/i.test(word), line: index + 1 }];
  });
}
