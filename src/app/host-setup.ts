import { resolve } from 'node:path';
import { createHosts } from '../hosts/hosts.ts';
import { appendLine } from '../base/files/file-shared.ts';
import { BmadError } from '../base/errors.ts';
import { extractSettings } from '../config/flags.ts';
import { loadConfig } from '../config/load.ts';
import { userPersonFile } from '../config/locations.ts';
import type { HostSetup } from '../hosts/setup-port.ts';
import type { Settings } from './settings.ts';

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
    async ignore(project, lines) {
      for (const line of lines) await appendLine(project, '.gitignore', line);
    },
    systemName: outside.env['USER'] ?? outside.env['USERNAME'],
    home: outside.home,
  };
}
