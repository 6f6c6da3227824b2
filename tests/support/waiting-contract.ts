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

/** A project whose completion contract runs until a test lets it go on. */
export async function waitingContract(folder: string): Promise<WaitingContract> {
  const gate = join(folder, 'gate');
  await writeFiles(folder, { [SCRIPT_PATH]: `echo "▶ pid $$"; cat gate > passed; echo "CC PASS"\n` });
  await promisify(execFile)('mkfifo', [gate]);
  // Opening a pipe for writing waits until somebody reads from it.
  return { begun: () => open(gate, 'w') };
}
