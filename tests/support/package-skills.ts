import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, sep } from 'node:path';

/** The sources of the BMAD package the content is built from. */
export const packageSource = join(
  dirname(createRequire(import.meta.url).resolve('bmad-method/package.json')),
  'src',
);

export interface PackageSkill {
  /** The name in its front matter. */
  name: string;
  short: string;
  kind: 'agent' | 'workflow' | 'plain';
  shim: boolean;
  /** Where the server offers its main file. */
  uri: string;
  bytes: Buffer;
}

/** Where the folders of the package are in the content. */
export const MOVED = new Map([
  ['core-skills', 'core'],
  ['bmm-skills', 'bmm'],
  ['scripts', 'scripts'],
]);

/** Every file below a folder, with forward slashes. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .split(sep)
        .join('/'),
    )
    .sort();
}

/** What the package offers, found without any of the product's code. */
export async function packageSkills(): Promise<PackageSkill[]> {
  const skills: PackageSkill[] = [];
  for (const [folder, module] of MOVED) {
    const files = await filesBelow(join(packageSource, folder));
    for (const file of files.filter((path) => basename(path) === 'SKILL.md')) {
      const bytes = await readFile(join(packageSource, folder, file));
      const frontMatter = bytes.toString('utf8').split(/^---$/m)[1] ?? '';
      const name = /^name: *['"]?([\w-]+)/m.exec(frontMatter)?.[1] ?? basename(dirname(file));
      const customize = files.includes(`${dirname(file)}/customize.toml`)
        ? await readFile(join(packageSource, folder, dirname(file), 'customize.toml'), 'utf8')
        : '';
      const table = /^\[(agent|workflow)\]/m.exec(customize)?.[1];
      skills.push({
        name,
        short: name.replace(/^bmad-(?:agent-)?/, ''),
        kind: table === 'agent' || table === 'workflow' ? table : 'plain',
        shim: /^\s+lifecycle: *shim/m.test(frontMatter),
        uri: `bmad://${module}/${file}`,
        bytes,
      });
    }
  }
  return skills;
}
