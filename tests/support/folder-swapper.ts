import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** In another process, so that it happens between any two steps of ours. */
const PROGRAM = `
const { renameSync, rmSync, symlinkSync } = require('node:fs');
const [folder, outside, most] = process.argv.slice(1);
process.stdout.write('swapping');
process.once('disconnect', () => process.exit());
// Each state lasts for a different while, so that every step of a reader meets every one of them.
const stay = () => {
  for (const until = performance.now() + Math.random() * Number(most); performance.now() < until; );
};
// Whoever writes may make the folder anew while it is away.
let count = 0;
const make = (step) => {
  for (;;)
    try {
      return step();
    } catch {
      renameSync(folder, folder + '.made-' + ++count);
    }
};
(function again() {
  for (let round = 0; round < 20; round += 1) {
    stay();
    renameSync(folder, folder + '.aside');
    make(() => symlinkSync(outside, folder));
    stay();
    rmSync(folder);
    make(() => renameSync(folder + '.aside', folder));
  }
  setImmediate(again);
})();
`;

/**
 * Swaps a folder for a link to another one and back, again and again, until the answer is called; afterwards the folder
 * is what it was.
 */
export async function swapFolder(
  folder: string,
  outside: string,
  /** How long it stays one or the other, at most: about as long as what it is to interrupt. */
  mostMs = 0.1,
): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, ['-e', PROGRAM, folder, outside, String(mostMs)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  await once(child.stdout as NodeJS.EventEmitter, 'data');
  return async () => {
    const exit = once(child, 'exit');
    child.disconnect();
    await exit;
  };
}
