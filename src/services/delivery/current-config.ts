import { expected } from '../../base/expected.ts';
import { formatYaml, parseYaml } from '../../base/parse/parse.ts';
import { contentUri } from '../../base/files/paths.ts';
import { maskSecretValues } from '../../base/secrets/secrets.ts';
import type { ContentFiles } from '../../catalogue/content-files.ts';
import type { GeneratedFile } from './generated-files.ts';
import type { Layered } from './layers.ts';
import { mimeTypeOf } from './served-file.ts';

/** Version 4 has its own single file, in the project or in a root that is the folder itself. */
const V4_FILES = ['.bmad-core/core-config.yaml', 'core-config.yaml'];

/** The configuration in force, whatever version wrote it and however many files it is spread over; secrets are masked. */
export function currentConfig(
  projectRoot: string | undefined,
  central: () => Promise<Layered>,
  files: ContentFiles,
): [string, GeneratedFile] {
  async function make(): Promise<string> {
    const { values, files: layers } = await central();
    const v4 = await v4Config(files);
    const from = [
      // Only a central configuration of the project's own replaces what the modules bring along.
      ...(layers.includes('config.toml') ? [] : ['the values of the modules']),
      ...layers.map((file) => `_bmad/${file}`),
      ...(v4 === undefined ? [] : [contentUri(v4.path)]),
    ];
    return formatYaml({
      project_root: projectRoot ?? null,
      from,
      ...values,
      ...(v4 === undefined ? {} : { core_config: maskSecretValues(v4.value) }),
    });
  }
  return ['config/current', { mimeType: mimeTypeOf('current.yaml'), make }];
}

async function v4Config(files: ContentFiles): Promise<{ path: string; value: unknown } | undefined> {
  for (const path of V4_FILES) {
    // A file that cannot be used sets nothing; the readers report it.
    const found = await files
      .read(path)
      .then(({ bytes }) => ({ path, value: parseYaml(path, bytes.toString('utf8')) }))
      .catch(expected(() => undefined));
    if (found !== undefined) return found;
  }
  return undefined;
}
