import { sha256 } from '../../base/sha256.ts';
import { field, parseYaml, textField } from '../../base/parse/parse.ts';
import type { ModuleInfo } from '../../model/module.ts';
import { shortName, type BmadRecord, type Problem } from '../../model/record.ts';
import type { Source } from '../../sources/source.ts';
import { detailsOf } from '../details.ts';
import { parsedTable, readable, recordOf } from '../reading.ts';

export const SKILL_MANIFEST = 'bmad-skill-manifest.yaml';

interface Common {
  generation: string;
  bmadVersion: string | undefined;
}

/**
 * Skills of which a package has the manifest alone: some were published without their Markdown. An agent's manifest says
 * who it is, which is enough to become it; of a workflow only the name is left, and that its file is missing.
 */
export async function readBare(
  source: Source,
  module: ModuleInfo,
  folder: string,
  common: Common,
  problems: Problem[],
): Promise<BmadRecord | undefined> {
  const file = `${folder}/${SKILL_MANIFEST}`;
  const text = await readable(source.tree, file, problems);
  if (text === undefined) return undefined;
  const table = parsedTable(file, problems, () => parseYaml(file, text));
  const name = textField(table, 'name') ?? folder.slice(folder.lastIndexOf('/') + 1);
  const help = module.help.filter((row) => row.skill === name);
  const details = detailsOf((key) => field(table, key));
  const isAgent = textField(table, 'type') === 'agent' && details?.role !== undefined;
  if (!isAgent && help.length === 0) return undefined;
  const main = isAgent ? file : `${folder}/SKILL.md`;
  const [displayName, title] = isAgent
    ? [textField(table, 'displayName'), textField(table, 'title')]
    : [help[0]?.displayName, undefined];
  return recordOf(source, {
    ...common,
    kind: isAgent ? 'agent' : 'workflow',
    listed: true,
    moduleName: module.code,
    moduleVersion: module.version,
    name,
    displayName,
    title,
    icon: isAgent ? textField(table, 'icon') : undefined,
    description: isAgent ? aboutOf(title, textField(table, 'capabilities')) : (help[0]?.description ?? ''),
    bmadRelativePath: main,
    moduleRelativePath: main.slice(main.indexOf('/') + 1),
    format: isAgent ? 'document' : 'skill',
    phase: isAgent ? undefined : help[0]?.phase,
    aliases: [shortName(name), displayName, title, ...help.flatMap((row) => [row.menuCode, row.displayName])],
    details: isAgent ? details : undefined,
    digest: isAgent ? sha256(text) : undefined,
  });
}

function aboutOf(title = '', capabilities = ''): string {
  return [title, capabilities].filter((each) => each !== '').join(': ');
}
