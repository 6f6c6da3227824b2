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
  track: string | undefined;
}

/** The workflows of the ledgers, and what they make. */
const KINDS: Record<string, ItemKind> = {
  'brainstorm-project': 'research',
  brainstorm: 'research',
  research: 'research',
  'domain-research': 'research',
  'product-brief': 'brief',
  'create-product-brief': 'brief',
  'game-brief': 'brief',
  prd: 'prd',
  'create-prd': 'prd',
  gdd: 'prd',
  'tech-spec': 'spec',
  'create-tech-spec': 'spec',
  'create-design': 'ux',
  'ux-design': 'ux',
  'create-ux-design': 'ux',
  architecture: 'architecture',
  'create-architecture': 'architecture',
  'game-architecture': 'architecture',
  'create-epics-and-stories': 'epics',
  'solutioning-gate-check': 'readiness',
  'implementation-readiness': 'readiness',
  'check-implementation-readiness': 'readiness',
  'sprint-planning': 'sprint',
};

const OPEN =
  /^(?:required|optional|recommended|conditional|pending|not[-_ ]started|in[-_ ]progress|if_\w+)$/i;

export function readWorkflowLedger(file: string, text: string): WorkflowLedger | BrokenLedger {
  if (text.trim() === '') return { file, broken: 'the file is empty' };
  if (/\.md$/i.test(file)) return { file, text, rows: [], phases: phaseLines(text), track: undefined };
  const pairs = ledgerPairs(file, text);
  if (pairs !== undefined && 'broken' in pairs) return pairs;
  const status = pairs?.find(({ key }) => key === 'workflow_status');
  if (status === undefined) return { file, broken: 'it has no "workflow_status"' };
  const rows = [...status.pairs.map(fromPair), ...status.items.flatMap(fromItem)];
  if (rows.length === 0) return { file, line: status.line, broken: '"workflow_status" lists no workflows' };
  const track = pairs?.find(({ key }) => key === 'selected_track')?.value;
  return { file, text, rows, phases: [], track: typeof track === 'string' ? track : undefined };
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
  const word = pair.value === null || pair.value === undefined ? '' : String(pair.value).trim();
  const says = OPEN.test(word)
    ? 'open'
    : /^skipped$/i.test(word)
      ? 'skipped'
      : /^(?:complete|completed|done)$/i.test(word)
        ? 'done'
        : /\/|\.\w{2,5}$/.test(word) && !word.includes('{{')
          ? 'file'
          : 'invalid';
  const name = id.toLowerCase();
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  return { id, kind, word, says, required: /^required$/i.test(word), line: pair.line || line, pair };
}

/** The first alphas kept lines like `PHASE_2_COMPLETE: true` in a Markdown file. */
function phaseLines(text: string): WorkflowLedger['phases'] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    const [, number = '', word = ''] =
      /^\W*PHASE_([1-4])_COMPLETE\W*:\W*(true|false|yes|no)\b/i.exec(line) ?? [];
    const phase = PHASES[Number(number) - 1];
    return phase === undefined ? [] : [{ phase, complete: /^(?:true|yes)$/i.test(word), line: index + 1 }];
  });
}
