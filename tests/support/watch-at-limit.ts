import { closeSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { watchFolders } from '../../src/base/files/watch-folders.ts';

/**
 * Watches a folder while the process has as many files open as it may, and then has them closed: says how it watches, and
 * that it still notices a change.
 */
const [, , folder = ''] = process.argv;
// What watches does not keep a process.
const kept = setInterval(() => undefined, 1_000);
const taken: number[] = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch {
  // There is no room for another one.
}
let heard = (): void => undefined;
const moved = (): Promise<void> => new Promise((resolve) => (heard = resolve));
const watch = watchFolders(() => heard(), { pollMs: 20 });
await watch.follow([{ path: folder }]);
const report = watch.report();
// Without room it could not even list the folder, so that it finds more in it when there is.
const room = moved();
for (const file of taken) closeSync(file);
await writeFile(join(folder, 'first'), '');
await room;
const again = moved();
await writeFile(join(folder, 'second'), '');
await again;
process.stdout.write(JSON.stringify(report));
watch.close();
clearInterval(kept);
