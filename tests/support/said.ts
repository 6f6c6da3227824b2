import { type ConfigInput, loadConfig, type LoadedConfig } from '../../src/config/load.ts';
import { findProject, type ProjectHints } from '../../src/sources/project-root.ts';

/** The configuration, with where each value is from in words. */
export async function configInWords(
  input: ConfigInput,
): Promise<Omit<LoadedConfig, 'from'> & { from: Record<keyof LoadedConfig['from'], string> }> {
  const { from, ...loaded } = await loadConfig(input);
  const words = Object.entries(from).map(([name, by]) => [name, String(by)]);
  return { ...loaded, from: Object.fromEntries(words) as Record<keyof typeof from, string> };
}

/** The project, with where it is from in words. */
export async function projectInWords(
  hints: ProjectHints,
): Promise<{ root: string | undefined; from: string }> {
  const { root, from } = await findProject(hints);
  return { root, from: String(from) };
}
