import { sceneIn } from './scene.ts';
import { WRITERS } from './writers.ts';

/** A process that makes one write, `child NAME FOLDER`, and says so when it is done. */
const [name, folder = ''] = process.argv.slice(2);
await WRITERS.find((writer) => writer.name === name)?.act(sceneIn(folder), 'first');
process.stdout.write('done\n');
