import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { removeCommands, writeCommands } from './hosts.ts';
import { connectionsIn } from './connect.ts';

describe('the commands of a host', () => {
  it('stay ours where they were to be written again and the program was ended before', async () => {
    const home = await temporaryFolder(onTestFinished);
    const connections = connectionsIn(join(home, 'state'));
    const folder = join(home, 'commands');
    const place = { folder, host: 'gemini-cli', scope: 'user' as const, inside: undefined, connections };
    const dev = (who: string) => [{ name: 'dev', who }];
    await writeCommands(place, dev('Amelia'), false);
    const killed: typeof connections.keep = async (...given) => {
      await connections.keep(...given);
      throw new Error('killed');
    };
    const ended = { ...place, connections: { ...connections, keep: killed } };
    await expect(writeCommands(ended, dev('Amelia, Developer'), false)).rejects.toThrow('killed');
    expect(await readFile(join(folder, 'dev.toml'), 'utf8')).toContain('Amelia (BMAD)');
    expect(await removeCommands(place, true)).toEqual(['/bmad:dev']);
    expect(await writeCommands(place, dev('Amelia, Developer'), false)).toEqual(['/bmad:dev']);
    expect(await readFile(join(folder, 'dev.toml'), 'utf8')).toContain('Amelia, Developer (BMAD)');
    expect(await removeCommands(place, false)).toEqual(['/bmad:dev']);
  });
});
