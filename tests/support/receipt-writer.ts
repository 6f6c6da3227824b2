import { addReceipt } from '../../src/services/completion/receipts.ts';
import { receiptsOf } from './kit.ts';

/** A process that adds receipts one after the other and tells each number: to be killed without warning. */
const [, , root = '', state = '', count = '0'] = process.argv;
const place = await receiptsOf(root, state);
for (let at = 0; at < Number(count); at += 1) {
  const { receipt } = await addReceipt(place, {
    status: 'PASS',
    reason: 'x'.repeat(500),
    contract: { kind: 'builtin', version: 1 },
    directory: '.',
    stack: 'auto',
    stacks: ['go'],
    steps: [],
    // Two that say the same in the same millisecond would be one.
    by: `writer ${process.pid}`,
    timed_out: false,
    started: new Date().toISOString(),
    ended: new Date().toISOString(),
    duration_ms: at,
    tree: { digest: 'c'.repeat(64), files: 1, listed: 'walk', left_out: 0 },
  });
  process.stdout.write(`${receipt.seq} ${receipt.hash}\n`);
}
