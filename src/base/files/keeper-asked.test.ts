import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { createCatchingUp } from '../async.ts';
import { Keeper } from './keeper.ts';
import { watchFolders } from './watch-folders.ts';

const ROUNDS = 200;

/** A pipe with both ends in this process: what is written is input of the next round, in the order of writing. */
function pipeIn(folder: string, name: string): { end: number; input: Socket } {
  const path = join(folder, name);
  spawnSync('mkfifo', [path]);
  const end = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const input = new Socket({ fd, readable: true, writable: false });
  onTestFinished(() => {
    input.destroy();
    closeSync(end);
  });
  return { end, input };
}

/**
 * How often a question was answered as if nothing had happened. In each round something else is dealt with first; meanwhile a
 * file is edited and the question is asked, so that it comes with input that this round has found already.
 */
async function wrongAnswers(ready: () => Promise<unknown>): Promise<number> {
  const [folder, pipes] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
  const names = Array.from({ length: ROUNDS }, (_, round) => `${round}.md`);
  await writeFiles(folder, Object.fromEntries(names.map((name) => [name, 'as it was'])));
  const folders = watchFolders(() => undefined);
  onTestFinished(() => folders.close());
  await folders.follow([{ path: folder }]);
  // The times of the files have to be over before they prove anything.
  await delay(120);
  const [other, questions] = [pipeIn(pipes, 'other'), pipeIn(pipes, 'questions')];
  let wrong = 0;
  for (const name of names) {
    const keeper = new Keeper({ watch: () => folders.watch });
    keeper.look(join(folder, name));
    expect(await keeper.unchanged()).toBe(true);
    other.input.once('data', () => {
      writeFileSync(join(folder, name), 'edited');
      writeSync(questions.end, 'question');
    });
    const answered = new Promise<boolean>((resolve) => {
      questions.input.on('data', (text: Buffer) => {
        if (text.includes('question')) void ready().then(async () => resolve(await keeper.unchanged()));
      });
    });
    writeSync(other.end, 'something else');
    writeSync(questions.end, 'earlier, ');
    if (await answered) wrong += 1;
    questions.input.removeAllListeners('data');
    await delay(1);
  }
  return wrong;
}

describe.runIf(process.platform === 'linux')('a question that comes with an edit', () => {
  it('is answered when the edit was told; one turn would not be enough', async () => {
    expect(await wrongAnswers(createCatchingUp())).toBe(0);
    expect(await wrongAnswers(turn)).toBeGreaterThan(0);
  });
});
