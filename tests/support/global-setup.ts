import { execFileSync } from 'node:child_process';

/** Tests of the programs run the real build; it is made here when it is missing or out of date. */
export default function setup(): void {
  execFileSync(process.execPath, ['scripts/ensure.mjs'], { stdio: ['ignore', 'inherit', 'inherit'] });
}
