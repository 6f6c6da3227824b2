import { textField } from '../../base/parse/parse.ts';
import { entriesOf, type Install } from './install.ts';
import { gather } from './gather.ts';
import type { CsvRow } from '../../base/parse/parse.ts';
import { firstTag } from './markup.ts';
import { descriptionText, fileOf, frontMatter, nameText, stemOf, type LoadedFile } from './reading.ts';
import type { Finding, Shelf } from './shelf.ts';

/** Agents compiled to XML in Markdown: those of the manifest, of the modules, and of the custom kit. */
export async function readAgents(install: Install, shelf: Shelf): Promise<void> {
  const ofKit = new Set(await kitAgents(install));
  const onDisk = [...new Set([...install.files.filter(isAgentFile), ...ofKit])];
  await gather(install, shelf, {
    kind: 'agent',
    manifest: 'agent-manifest.csv',
    suffix: /\.md$/i,
    onDisk: () => onDisk,
    understand: (file, row) => agent(install, file, row, ofKit.has(file.path)),
    formatOf: () => 'compiled-agent',
  });
}

/** `bmm/agents/pm.md`, `bmm/agents/tech-writer/tech-writer.md`; not the documentation beside them. */
function isAgentFile(path: string): boolean {
  return /^[^/]+\/agents\/(?!(?:.*\/)?docs\/).*\.md$/i.test(path) && !/^readme\b/i.test(fileOf(path));
}

/** The custom kit keeps its agents beside the manifests; drafts and templates among them are marked by their name. */
async function kitAgents(install: Install): Promise<string[]> {
  const places = [...install.configs.map((config) => `${config}/custom`), 'custom'];
  const found: string[] = [];
  for (const place of places) {
    if (!(await hasFolder(install, place, 'agents'))) continue;
    for (const { name, kind } of await entriesOf(install.source, `${place}/agents`, install.problems)) {
      if (kind === 'file' && /\.md$/i.test(name) && !/tpl\.|proposed\.|template\.|readme/i.test(name))
        found.push(`${place}/agents/${name}`);
    }
  }
  return found;
}

/** Asked step by step, because listing a folder that is not there would be a problem. */
async function hasFolder(install: Install, path: string, folder: string): Promise<boolean> {
  const [parent = '', child] = path.split('/');
  const { source, problems, topLevel } = install;
  if (!topLevel.has(parent)) return false;
  const within = async (place: string, wanted: string): Promise<boolean> =>
    (await entriesOf(source, place, problems)).some(({ name, kind }) => kind === 'folder' && name === wanted);
  return (child === undefined || (await within(parent, child))) && within(path, folder);
}

function agent(
  { problems }: Install,
  file: LoadedFile,
  row: CsvRow | undefined,
  ofKit: boolean,
): Partial<Finding> | undefined {
  const text = file.text();
  const tag = firstTag(text, 'agent');
  const isAgent = tag !== undefined || (ofKit && text.includes('<activation'));
  // Teams write agents in plain Markdown too; front matter tells them from notes.
  if (!isAgent && row === undefined && !/^\uFEFF?---[ \t]*\r?\n/.test(text)) return undefined;
  const data = frontMatter(file.path, text, problems);
  const shown = (name: string): string | undefined =>
    nameText(tag?.get(name)) ?? nameText(row?.cell(name === 'name' ? 'displayName' : name));
  const displayName = shown('name');
  const title = shown('title');
  return {
    ...(isAgent ? {} : { format: 'document' }),
    displayName,
    title,
    icon: shown('icon'),
    description:
      descriptionText(textField(data, 'description')) ??
      title ??
      descriptionText(row?.cell('description')) ??
      descriptionText(row?.cell('role')),
    aliases: [
      displayName,
      title,
      nameText(row?.cell('canonicalId')),
      nameText(textField(data, 'name')),
      nameText(row?.cell('name')),
    ].filter((alias) => alias !== stemOf(file.path)),
  };
}
