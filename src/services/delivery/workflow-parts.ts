import { basename, dirname } from 'node:path/posix';
import { attempt, orElse } from '../../base/expected.ts';
import { breath } from '../../base/pace.ts';
import { parseYaml, tableOf, textField, type Table } from '../../base/parse/parse.ts';
import { contentPath } from '../../base/files/paths.ts';
import { decodeText } from '../../base/text/decode.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { behaviourOf } from '../../model/format.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';

/** A file that a `workflow.yaml` names in a key. */
export interface WorkflowPart {
  key: 'instructions' | 'template' | 'validation' | 'checklist';
  path: string;
}

const KEYS: readonly WorkflowPart['key'][] = ['instructions', 'template', 'validation', 'checklist'];

/** The files that a workflow in YAML names in its keys, whether or not they are there. */
export function partsNamed(record: BmadRecord, table: Table): WorkflowPart[] {
  const folder = dirname(record.bmadRelativePath);
  return KEYS.flatMap((key) => {
    const path = supportingPath(textField(table, key), record, folder);
    return path === undefined ? [] : [{ key, path }];
  });
}

/** The same of the text; nothing of one that is not YAML, which others tell. */
export function partsIn(record: BmadRecord, main: string): WorkflowPart[] {
  if (!behaviourOf(record).needsEngine) return [];
  return partsNamed(
    record,
    attempt(() => tableOf(parseYaml(record.bmadRelativePath, main)), orElse({})),
  );
}

/** Said of a part that is not there, when its workflow is started and when all are checked. */
export function missingPart(record: BmadRecord, { key, path }: WorkflowPart): Problem {
  return { file: record.bmadRelativePath, message: `"${key}" names ${path}, which does not exist` };
}

/** The parts of all workflows that are not there. Without its instructions a workflow cannot be followed at all. */
export async function missingParts({ callable, files }: Catalogue): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const record of callable) {
    await breath();
    if (!behaviourOf(record).needsEngine || record.origin.kind === 'package') continue;
    const own = files.preferring(record.origin);
    const known = await own.all();
    // One that cannot be read is told of as such.
    const main = await own.read(record.bmadRelativePath).catch(orElse(undefined));
    const parts = main === undefined ? [] : partsIn(record, decodeText(main.bytes));
    for (const part of parts.filter(({ path }) => !known.has(path)))
      problems.push({
        ...missingPart(record, part),
        ...(part.key === 'instructions' ? {} : { mild: true as const }),
      });
  }
  return problems;
}

/** Whether its folder is one of many workflows side by side, and not its own. */
export function sharesItsFolder({ bmadRelativePath }: BmadRecord): boolean {
  return ['workflows', '.'].includes(basename(dirname(bmadRelativePath)));
}

/** The content path behind `{installed_path}/instructions.md`; nothing for `false`, prose, or what leads outside. */
function supportingPath(value: string | undefined, record: BmadRecord, folder: string): string | undefined {
  if (value === undefined || !/\.\w{2,4}$/.test(value)) return undefined;
  const root = basename(record.origin.root);
  const path = value
    .replace('{installed_path}', folder)
    .replace(
      new RegExp(`^\\{project-root\\}/(?:${['_bmad', '.bmad', 'bmad', root].map(escaped).join('|')})/`),
      '',
    );
  return attempt(() => contentPath(path.includes('/') ? path : `${folder}/${path}`), orElse(undefined));
}

function escaped(text: string): string {
  return text.replace(/[^\w]/g, '\\$&');
}
