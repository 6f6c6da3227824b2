import { basename, dirname, join, resolve } from 'node:path';
import { BmadError, unlessMissing } from '../base/errors.ts';
import { appendLine, replaceShared } from '../base/files/file-shared.ts';
import { readInside } from '../base/files/files.ts';
import { extractSettings } from '../config/flags.ts';
import { loadConfig } from '../config/load.ts';
import { userConfigFile, userPersonFile } from '../config/locations.ts';
import { createHosts, type HostSetup } from '../hosts/hosts.ts';
import type { Settings } from './settings.ts';
import { withLock } from '../base/files/file-lock.ts';
import { readState } from '../base/files/file-state.ts';
import { withList } from '../base/parse/toml-list.ts';

/** No file of such lines is longer. */
const MOST_BYTES = 10_000_000;

/** Everything that connects a host; only the command line asks for it. */
export function hostSetup({ outside, root, state, cache, configFiles }: Settings): HostSetup {
  const [command, ...args] = outside.serverCommand;
  const file = userPersonFile(outside);
  return {
    hosts: createHosts({ surroundings: outside, root, start: { command, args }, state }),
    async handshake(start, folder, signal) {
      const { createDiagnosis } = await import('../services/diagnosis/diagnosis.ts');
      return createDiagnosis({
        command: [start.command, ...start.args],
        cwd: resolve(folder, start.cwd ?? ''),
        env: { ...outside.env, ...start.env },
        privateFolders: [],
        cache,
        tokens: async () => [],
      }).handshake(signal);
    },
    async settingsOf({ args: [, ...flags], env }) {
      try {
        const { settings } = extractSettings(flags);
        const { config } = await loadConfig({
          flags: settings,
          env: { ...outside.env, ...env },
          files: configFiles.map((path) => ({ label: 'file', path })),
        });
        return config;
      } catch (error) {
        if (error instanceof BmadError) return undefined;
        throw error;
      }
    },
    person: async () => (await import('../hosts/person.ts')).readPerson(file),
    async setPerson(person) {
      await (await import('../hosts/person.ts')).writePerson(file, person);
      return file;
    },
    async lacking(project, name, lines) {
      const text = await readInside(project, name, MOST_BYTES).catch(unlessMissing);
      const known = new Set((text?.toString('utf8') ?? '').split(/\r?\n/).map((line) => line.trim()));
      return lines.filter((line) => !known.has(line));
    },
    async addLines(project, name, lines) {
      for (const line of lines) await appendLine(project, name, line);
    },
    systemName: outside.env['USER'] ?? outside.env['USERNAME'],
    home: outside.home,
  };
}

const LOCK_WAIT_MS = 3_000;

/** Changes the preferred origins in the user's configuration file, which is made if it is not there. */
export async function changePreferred(
  { outside, state, load }: Pick<Settings, 'outside' | 'state' | 'load'>,
  change: (entries: readonly string[]) => readonly string[],
): Promise<{ file: string; entries: readonly string[] }> {
  const file = userConfigFile(outside);
  return withLock(join(state, 'config.lock'), { waitMs: LOCK_WAIT_MS }, async () => {
    const text = (await readState(file)) ?? '';
    // As they are now: somebody else may have chosen in the meantime.
    const entries = change((await load()).config.prefer);
    const next = withList(file, text, 'prefer', () => entries);
    if (next !== text) await replaceShared(dirname(file), basename(file), next);
    return { file, entries };
  });
}
