import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { repository } from './app.ts';
import { installOf, type Version } from './installs.ts';

/** The versions whose installers compile agents, and the folder of their installs. */
export const COMPILING = {
  '6.0.0-alpha.7': { root: 'bmad', config: '_cfg' },
  '6.0.0-alpha.22': { root: '_bmad', config: '_config' },
  '6.0.0-Beta.5': { root: '_bmad', config: '_config' },
  '6.0.4': { root: '_bmad', config: '_config' },
  '6.1.0': { root: '_bmad', config: '_config' },
  '6.2.0': { root: '_bmad', config: '_config' },
} satisfies Partial<Record<Version, { root: string; config: string }>>;

export type CompilingVersion = keyof typeof COMPILING;

interface OldHandler {
  buildFromYaml(yaml: string, customize: string | null, options: object): Promise<string>;
}
interface OldManager {
  compileModuleAgents(
    from: string,
    to: string,
    module: string,
    root: string,
    installer: object,
  ): Promise<void>;
}

/**
 * Compiles all agents of a version by the code of its own installer from npm, each with a customization. What it gives is
 * by `module/agent`.
 */
export async function compiledByInstaller(
  version: CompilingVersion,
  customize: (agent: string) => string,
  scratch: string,
): Promise<Map<string, string>> {
  await installOf(version);
  const bmad = join(repository, '.cache/installs/.packages', version, 'node_modules/bmad-method');
  const installer = createRequire(join(bmad, 'package.json'));
  const load = (path: string): unknown => installer(join(bmad, 'tools/cli', path));
  const modules = await sourceModules(bmad);
  const compiled = new Map<string, string>();
  const { config } = COMPILING[version];
  const settings = join(scratch, config, 'agents');
  await mkdir(settings, { recursive: true });
  for (const [module, folder] of modules) {
    const sources = (await readdir(join(folder, 'agents'), { recursive: true })).filter((name) =>
      name.endsWith('.agent.yaml'),
    );
    for (const source of sources) {
      const agent = basename(source, '.agent.yaml');
      await writeFile(join(settings, `${module}-${agent}.customize.yaml`), customize(`${module}/${agent}`));
    }
    const target = join(scratch, module);
    if (version === '6.0.0-alpha.7') {
      const { XmlHandler } = load('lib/xml-handler.js') as {
        XmlHandler: new () => OldHandler;
      };
      for (const source of sources) {
        const agent = basename(source, '.agent.yaml');
        const place = join(settings, `${module}-${agent}.customize.yaml`);
        const text = await new XmlHandler().buildFromYaml(join(folder, 'agents', source), place, {});
        compiled.set(`${module}/${agent}`, text);
      }
      continue;
    }
    const { ModuleManager } = load('installers/lib/modules/manager.js') as {
      ModuleManager: new () => OldManager;
    };
    // The injection of speech is switched off in the installs: its mark is taken out.
    const standIn = {
      processTTSInjectionPoints: (text: string) =>
        text.replaceAll(/<!-- TTS_INJECTION:agent-tts -->\n?/g, ''),
      readFilesManifest: async () => [],
    };
    await new ModuleManager().compileModuleAgents(folder, target, module, scratch, standIn);
    for (const source of sources) {
      const text = await readFile(join(target, 'agents', source.replace(/\.agent\.yaml$/, '.md')), 'utf8');
      compiled.set(`${module}/${basename(source, '.agent.yaml')}`, text);
    }
  }
  return compiled;
}

async function sourceModules(bmad: string): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for (const above of ['src', 'src/modules']) {
    const folders = await readdir(join(bmad, above)).catch(() => []);
    for (const name of folders) {
      const parts = await readdir(join(bmad, above, name)).catch((): string[] => []);
      if (parts.includes('agents')) found.push([name, join(bmad, above, name)]);
    }
  }
  return found;
}

/** The compiled agents of an install by `module/agent`. */
export async function installedAgents(version: CompilingVersion): Promise<Map<string, string>> {
  const root = join(await installOf(version), COMPILING[version].root);
  const found = new Map<string, string>();
  for (const module of await readdir(root)) {
    const names = await readdir(join(root, module, 'agents'), { recursive: true }).catch((): string[] => []);
    for (const name of names.filter((file) => file.endsWith('.md'))) {
      const text = await readFile(join(root, module, 'agents', name), 'utf8');
      if (text.includes('<agent ')) found.set(`${module}/${basename(name, '.md')}`, text);
    }
  }
  return found;
}
