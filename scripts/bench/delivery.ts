/**
 * Prints how large the answers are that start agents and workflows: of what is built in, or of an install.
 *
 *     npm run bench:delivery -- [folder of an install ...]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contextIn } from '../../tests/support/app.ts';
import { deliveredSizes } from '../../tests/support/delivered.ts';

const empty = await mkdtemp(join(tmpdir(), 'bmad-sizes-'));
const given = process.argv.slice(2);
for (const folder of given.length === 0 ? [empty] : given) {
  const context = await contextIn(folder, given.length === 0 ? {} : { flags: { discovery: 'local' } });
  const sizes = await deliveredSizes(context);
  const sum = (key: 'preamble' | 'whole' | 'parts'): number =>
    sizes.reduce((all, size) => all + size[key], 0);
  process.stdout.write(`\n${folder === empty ? 'built in' : folder}: ${sizes.length} texts\n`);
  for (const { kind, name, preamble, whole, parts } of sizes)
    process.stdout.write(`${preamble}\t${whole}\t${parts}\t${kind} ${name}\n`);
  process.stdout.write(`${sum('preamble')}\t${sum('whole')}\t${sum('parts')}\tall\n`);
}
await rm(empty, { recursive: true });
