import { breakDisk, type Fault } from '../support/faulty-disk.ts';
import { sceneIn } from './scene.ts';

/**
 * A process that makes one write on a disk that kills it, `child GROUP NAME FAULT`, and says so when it is done. It loads
 * no more than it needs: there are many of them.
 */
const [group, name, fault = ''] = process.argv.slice(2);
const { folder, ...rest } = JSON.parse(fault) as Fault & { folder: string };
const writers = await writersOf(group);
await breakDisk({ ...rest, folder });
await writers.find((writer) => writer.name === name)?.act(sceneIn(folder), 'first');
process.stdout.write('done\n');

async function writersOf(of: string | undefined) {
  if (of === 'memory') return (await import('./memory-writers.ts')).MEMORY_WRITERS;
  if (of === 'state') return (await import('./state-writers.ts')).STATE_WRITERS;
  return (await import('./log-writers.ts')).LOG_WRITERS;
}
