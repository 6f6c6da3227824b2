import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { HOSTS_LEFT_OUT } from './host-packages.ts';
import { hasPostgres, POSTGRES_LEFT_OUT } from './postgres.ts';

const TRIALS_LEFT_OUT =
  'LONG TRIALS WERE NOT RUN: "npm run test:deep" kills, fills disks and starts many processes.';

/** Ends a run with one plain line that any log reader understands: "12 passed, 0 failed, 1 skipped". */
export default class ClosingLine implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.#isWhole() && this.#vitest?.projects.every(({ name }) => name !== 'hosts') === true)
      process.stdout.write(`\n${HOSTS_LEFT_OUT}\n`);
    if (this.#isWhole() && !hasPostgres()) process.stdout.write(`\n${POSTGRES_LEFT_OUT}\n`);
    if (this.#isWhole()) process.stdout.write(`\n${TRIALS_LEFT_OUT}\n`);
    const count = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== 'pending') count[state] += 1;
      }
      if (module.state() === 'failed' && module.children.size === 0) count.failed += 1;
    }
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`);
  }

  /** Whether everything was asked for, and not some projects or files. */
  #isWhole(): boolean {
    const words = process.argv.slice(2).filter((word) => word !== 'run');
    return words.every((word) => word.startsWith('-') && !word.startsWith('--project'));
  }
}
