import { setTimeout } from 'node:timers/promises';

/** A client that does not respond is not given more time. */
const WAIT_MS = 1_500;

/** The folders that the client works in: which project is meant without a name may depend on them. */
export class ClientRoots {
  folders: readonly string[] = [];
  /** Settled when the client has answered, or has had time to. */
  known: Promise<void> = Promise.resolve();

  offer(folders: Promise<readonly string[]>, changed: () => void): void {
    this.known = (async () => {
      try {
        this.folders = await Promise.race([folders, setTimeout(WAIT_MS, [], { ref: false })]);
        changed();
      } catch {
        // A client that cannot tell where it works is one that says nothing.
      }
    })();
  }
}
