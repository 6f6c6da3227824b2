import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openSession } from '../../../tests/support/operations.ts';
import { writeTable } from '../../../tests/support/table-folder.ts';
import { embedderAdd } from './embedder-add.ts';

describe('adding a table of the user', () => {
  it('reads it, and says how it is used', async () => {
    const session = await openSession(afterAll);
    const folder = await writeTable(join(session.folder, 'models', 'kitchen'));
    const added = await session.ok(embedderAdd, { folder: 'models/kitchen' });
    const about = { name: 'kitchen', folder, dim: 3, rows: 7, tokens: 'WordPiece', already: false };
    expect(added.data).toMatchObject(about);
    expect(added.answer.body).toContain('set embedder = "table" and embedding_model = "kitchen"');
    expect((await session.ok(embedderAdd, { folder })).data).toMatchObject({ already: true });
    const other = await writeTable(join(session.folder, 'other'));
    const taken = await session.fail(embedderAdd, { folder: other, name: 'kitchen' });
    expect(taken).toMatchObject({ code: 'conflict' });
    const odd = await session.fail(embedderAdd, { folder: other, name: 'a b' });
    expect(odd).toMatchObject({ code: 'invalid_input' });
  });

  it('is not for others than the user of the machine', async () => {
    const served = await openSession(afterAll, { forOthers: true });
    expect(await served.fail(embedderAdd, { folder: served.folder })).toMatchObject({ code: 'forbidden' });
  });
});
