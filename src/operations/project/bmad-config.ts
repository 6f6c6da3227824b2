import type { CataloguePort, ProjectFacts } from '../context.ts';

type Table = Record<string, unknown>;

/** What an install of BMAD in the project is set up with, whatever version wrote it. */
export interface BmadConfig {
  roots: { folder: string; version?: string }[];
  /** The files the values come from. */
  from: string[];
  core: Table;
  modules: Table;
  /** `core-config.yaml` of version 4. */
  v4?: Table;
  agents: string[];
}

/** Nothing when the project has no BMAD of its own; then only the built-in content is in force. */
export async function bmadConfigOf(
  facts: ProjectFacts,
  context: CataloguePort,
  project?: string,
): Promise<BmadConfig | undefined> {
  const { catalogue, delivery, project: found } = await context.workspace(project);
  const own = catalogue.sources.filter(({ origin }) => origin.kind === 'project');
  if (own.length === 0) return undefined;
  const { text = '' } = await delivery.file('config/current');
  const { from, core, modules: all, v4 } = facts.bmadValues(text);
  const central = from.some((file) => file.endsWith('_bmad/config.toml'));
  const mine = new Set(
    catalogue.modules.filter(({ origin }) => origin.kind === 'project').map(({ code }) => code),
  );
  // Without a central file, values of modules that are not the project's are only what the package proposes.
  const modules = Object.entries(all).filter(([code]) => central || mine.has(code));
  const top = `${found.root ?? ''}/`;
  return {
    roots: own.map(({ origin }) => ({
      folder: origin.root.startsWith(top) ? origin.root.slice(top.length) : origin.root,
      ...(origin.bmadVersion === undefined ? {} : { version: origin.bmadVersion }),
    })),
    from: from.filter((file) => file !== 'the values of the modules' || modules.length > 0),
    core: central || mine.has('core') ? core : {},
    modules: Object.fromEntries(modules),
    ...(Object.keys(v4).length === 0 ? {} : { v4 }),
    agents: catalogue.winners
      .filter(({ kind, origin }) => kind === 'agent' && origin.kind === 'project')
      .map((record) => catalogue.names.handleOf(record)),
  };
}
