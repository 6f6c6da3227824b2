import { BmadError, quoted } from '../../base/errors.ts';
import { nearest } from '../../base/text/suggest.ts';

interface CodeLanguage {
  /** The name users give and answers show. */
  name: string;
  extensions: readonly string[];
  /** Other names it is known by. */
  aliases?: readonly string[];
  /** Text about code, or data: found after code of equal worth. */
  prose?: true;
}

/** Every language there is a name for; those with a grammar are in `definitions.ts`. */
const LANGUAGES: readonly CodeLanguage[] = [
  { name: 'typescript', extensions: ['ts', 'mts', 'cts', 'tsx'], aliases: ['ts', 'tsx'] },
  { name: 'javascript', extensions: ['js', 'mjs', 'cjs', 'jsx'], aliases: ['js', 'jsx', 'node'] },
  { name: 'python', extensions: ['py', 'pyi'], aliases: ['py'] },
  { name: 'go', extensions: ['go'], aliases: ['golang'] },
  { name: 'rust', extensions: ['rs'], aliases: ['rs'] },
  { name: 'java', extensions: ['java'] },
  { name: 'csharp', extensions: ['cs'], aliases: ['c#', 'cs'] },
  { name: 'cpp', extensions: ['cpp', 'cc', 'cxx', 'hpp', 'hh', 'hxx'], aliases: ['c++'] },
  { name: 'c', extensions: ['c', 'h'] },
  { name: 'php', extensions: ['php'] },
  { name: 'ruby', extensions: ['rb', 'rake'], aliases: ['rb'] },
  { name: 'shell', extensions: ['sh', 'bash', 'zsh'], aliases: ['bash', 'sh'] },
  { name: 'powershell', extensions: ['ps1', 'psm1'], aliases: ['ps1'] },
  { name: 'kotlin', extensions: ['kt', 'kts'] },
  { name: 'swift', extensions: ['swift'] },
  { name: 'scala', extensions: ['scala'] },
  { name: 'dart', extensions: ['dart'] },
  { name: 'lua', extensions: ['lua'] },
  { name: 'elixir', extensions: ['ex', 'exs'] },
  { name: 'haskell', extensions: ['hs'] },
  { name: 'perl', extensions: ['pl', 'pm'] },
  { name: 'r', extensions: ['r'] },
  { name: 'sql', extensions: ['sql'] },
  { name: 'vue', extensions: ['vue'] },
  { name: 'svelte', extensions: ['svelte'] },
  { name: 'css', extensions: ['css', 'scss', 'less'], aliases: ['scss', 'less'] },
  { name: 'html', extensions: ['html', 'htm', 'xhtml'] },
  { name: 'graphql', extensions: ['graphql', 'gql'] },
  { name: 'protobuf', extensions: ['proto'], aliases: ['proto'] },
  { name: 'terraform', extensions: ['tf', 'hcl'], aliases: ['hcl'] },
  { name: 'markdown', extensions: ['md', 'mdx', 'markdown'], aliases: ['md'], prose: true },
  { name: 'json', extensions: ['json', 'jsonc', 'json5'], prose: true },
  { name: 'yaml', extensions: ['yaml', 'yml'], aliases: ['yml'], prose: true },
  { name: 'toml', extensions: ['toml'], prose: true },
  { name: 'xml', extensions: ['xml', 'xsd', 'xsl'], prose: true },
  { name: 'text', extensions: [], aliases: ['txt', 'plain'], prose: true },
];

const byExtension = new Map(
  LANGUAGES.flatMap((language) => language.extensions.map((extension) => [extension, language] as const)),
);
const byName = new Map(LANGUAGES.map((language) => [language.name, language] as const));

/** What a file is written in, by its name; everything else is text. */
export function languageOf(path: string): string {
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return byExtension.get(extension)?.name ?? 'text';
}

export function isProse(language: string): boolean {
  return byName.get(language)?.prose === true;
}

/** The language a caller means; an error that names the nearest when there is none. */
export function knownLanguage(name: string): string {
  const wanted = name.trim().toLowerCase().replace(/^\./, '');
  const found =
    byName.get(wanted) ??
    LANGUAGES.find(({ aliases }) => aliases?.includes(wanted)) ??
    byExtension.get(wanted);
  if (found !== undefined) return found.name;
  const names = LANGUAGES.map((language) => language.name);
  throw new BmadError('invalid_input', `There is no language ${quoted(name)}.`, {
    subject: name.slice(0, 100),
    // One letter is in almost every word.
    suggestions: nearest(
      wanted,
      names.filter((known) => known.length > 1),
      2,
    ),
    hint: `Languages: ${names.join(', ')}.`,
  });
}
