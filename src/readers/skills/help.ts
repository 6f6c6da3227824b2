import { ParseError, parseCsv } from '../../base/parse.ts';
import type { HelpRow } from '../../model/module.ts';
import type { Problem } from '../../model/record.ts';

const COLUMNS = 13;
const PHASE_COLUMN = 7;

/** The rows of a `module-help.csv` of 13 columns. A row of the skill `_meta` holds the module's documentation address. */
export function parseHelp(file: string, text: string, problems: Problem[]): HelpRow[] {
  let rows: string[][];
  try {
    rows = parseCsv(file, text);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    problems.push({ file, message: error.message });
    return [];
  }
  return rows
    .slice(1)
    .map(realigned)
    .filter((row) => row[1] !== undefined && row[1] !== '')
    .map(toHelpRow);
}

/** Some shipped rows lost an empty column before the phase; a phase one column early gives them away. */
function realigned(row: string[]): string[] {
  const early = row[PHASE_COLUMN - 1] ?? '';
  const shifted =
    row.length === COLUMNS - 1 && (['anytime', 'plan', 'ship'].includes(early) || /^\d-/.test(early));
  return shifted ? [...row.slice(0, PHASE_COLUMN - 1), '', ...row.slice(PHASE_COLUMN - 1)] : row;
}

function toHelpRow(row: string[]): HelpRow {
  const at = (index: number): string => row[index] ?? '';
  return {
    module: at(0),
    skill: at(1),
    displayName: at(2),
    menuCode: at(3),
    description: at(4),
    action: at(5),
    args: at(6),
    phase: at(PHASE_COLUMN),
    precededBy: at(8),
    followedBy: at(9),
    required: at(10).toLowerCase() === 'true',
    outputLocation: at(11),
    outputs: at(12),
  };
}
