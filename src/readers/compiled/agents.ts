import { type CsvRow, textField } from '../../base/parse/parse.ts';
import { t } from '../../base/text/message.ts';
import { detailsOf, firstTag } from '../reader.ts';
import { gather, kitFiles, type Understanding } from './gather.ts';
import type { Finding, Install, Shelf } from './install.ts';
import { descriptionText, fileOf, frontMatter, type LoadedFile, nameText, stemOf } from './manifests.ts';

/** Agents compiled to XML in Markdown: those of the manifest, of the modules, and of the custom kit. */
export async function readAgents(install: Install, shelf: Shelf): Promise<void> {
  const ofKit = new Set(await kitFiles(install, 'agents'));
  const files = install.files.filter(isAgentFile);
  for (const file of files.filter(isTemplate))
    install.problems.push({ file, message: t`it is a template, and not served as an agent`, mild: true });
  for (const file of install.files.filter((path) => /^[^/]+\/agents\/.*\.agent\.ya?ml$/is.test(path)))
    install.problems.push({
      file,
      message: t`left out: agents in YAML are served once BMAD's installer has compiled them`,
      mild: true,
    });
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
  if (!isAgent && row === undefined && !/^\uFEFF?---[ \t]*\r?\n/.test(text)) {
    problems.push({
      file: file.path,
      message: t`left out: it has neither an <agent> tag nor a table at the top`,
      mild: true,
    });
    return undefined;
  }
  // What an installer has made has one; what people write by hand may say it otherwise.
  if (tag !== undefined && row !== undefined && firstTag(text, 'persona') === undefined)
    problems.push({ file: file.path, message: t`it has no persona`, mild: true });
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

/** The text of the first `<name>…</name>`, as it is written. */
function elementText(text: string, name: string): string | undefined {
  const start = text.indexOf(`<${name}>`);
  const end = start === -1 ? -1 : text.indexOf(`</${name}>`, start);
  return end === -1 ? undefined : text.slice(start + name.length + 2, end);
}
