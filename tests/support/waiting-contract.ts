import { execFile } from 'node:child_process';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SCRIPT_PATH } from './contract-project.ts';
import { writeFiles } from './folders.ts';

export interface WaitingContract {
  /** Resolves once the contract runs; it goes on when what this gives is closed. */
  begun(): Promise<FileHandle>;
}

/** A project whose completion contract runs until a test lets it go on; what the test leaves open is closed at its end. */
export async function waitingContract(
  folder: string,
  onEnd: (cleanUp: () => Promise<void>) => void,
): Promise<WaitingContract> {
  const gate = join(folder, 'gate');
  await writeFiles(folder, { [SCRIPT_PATH]: `echo "▶ pid $$"; cat gate > passed; echo "CC PASS"\n` });
  await promisify(execFile)('mkfifo', [gate]);
  return {
    async begun() {
      // Opening a pipe for writing waits until somebody reads from it.
      const handle = await open(gate, 'w');
      onEnd(() => handle.close());
      return handle;
    },
  };
}
