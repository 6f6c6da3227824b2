import { t } from '../../base/text/message.ts';
import { textField } from '../../base/parse/parse.ts';
import type { Install } from './install.ts';
import { kitFiles } from './kit-files.ts';
import { gather, type Understanding } from './gather.ts';
import type { CsvRow } from '../../base/parse/parse.ts';
import { detailsOf } from '../details.ts';
import { elementText, firstTag } from './markup.ts';
import { descriptionText, fileOf, frontMatter, nameText, stemOf, type LoadedFile } from './reading.ts';
import type { Finding, Shelf } from './shelf.ts';

/** Agents compiled to XML in Markdown: those of the manifest, of the modules, and of the custom kit. */
export async function readAgents(install: Install, shelf: Shelf): Promise<void> {
  const ofKit = new Set(await kitAgents(install));
  const files = install.files.filter(isAgentFile);
  for (const file of files.filter(isTemplate))
    install.problems.push({ file, message: t`it is a template, and not served as an agent`, mild: true });
  const onDisk = [...new Set([...files.filter((file) => !isTemplate(file)), ...ofKit])];
  await gather(install, shelf, { ...agentsIn(install, ofKit), onDisk: () => onDisk });
}

/** How an agent is understood. */
export const agentsIn = (install: Install, ofKit: ReadonlySet<string>): Understanding => ({
  kind: 'agent',
  manifest: 'agent-manifest.csv',
  // Templates are no agents, even where a manifest lists them.
  suffix: /(?<!\.(?:tpl|template|proposed))\.md$/i,
  understand: (file, row) => agent(install, file, row, ofKit.has(file.path)),
  formatOf: () => 'compiled-agent',
});

/** `bmm/agents/pm.md`, `bmm/agents/tech-writer/tech-writer.md`; not the documentation beside them. */
function isAgentFile(path: string): boolean {
  return /^[^/]+\/agents\/(?!(?:.*\/)?docs\/).*\.md$/is.test(path) && !/^readme\b/i.test(fileOf(path));
}

const isTemplate = (path: string): boolean => /\.(?:tpl|template|proposed)\.md$/i.test(path);

/** The custom kit keeps its agents beside the manifests; drafts and templates among them are marked by their name. */
const kitAgents = (install: Install): Promise<string[]> => kitFiles(install, 'agents');

function agent(
  { problems }: Install,
  file: LoadedFile,
  row: CsvRow | undefined,
  ofKit: boolean,
): Partial<Finding> | undefined {
  const text = file.text();
  if (text.trim() === '' && row === undefined) {
    problems.push({ file: file.path, message: t`the file is empty` });
    return undefined;
  }
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
    details: detailsOf(
      (name) => row?.cell(name),
      (name) => elementText(text, name),
    ),
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
