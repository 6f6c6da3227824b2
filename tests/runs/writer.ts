import { runsIn } from '../support/run-project.ts';

/**
 * A process that records steps one by one and says on standard output which it has been told are recorded:
 * `writer FOLDER RUN FIRST COUNT`.
 */
const [folder = '', run = '', first = '0', count = '0'] = process.argv.slice(2);

const runs = await runsIn(folder);
for (let index = 0; index < Number(count); index++) {
  const step = Number(first) + index;
  const answer = await runs.checkpoint(run, 'main', { step, variables: { [`v${step % 50}`]: step } });
  if (answer.run.state?.stepsCompleted.includes(step) !== true) throw new Error(`${step} is not recorded`);
  process.stdout.write(`${step}\n`);
}
