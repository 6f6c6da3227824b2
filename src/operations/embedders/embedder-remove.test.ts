import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openSession } from '../../../tests/support/operations.ts';
import { writeTable } from '../../../tests/support/table-folder.ts';
import { embedderAdd } from './embedder-add.ts';
import { embedderRemove } from './embedder-remove.ts';

describe('removing a table of the user', () => {
  it('takes it off the list, and leaves its folder', async () => {
    const session = await openSession(afterAll);
    const folder = await writeTable(join(session.folder, 'kitchen'));
    await session.ok(embedderAdd, { folder });
    const { data, answer } = await session.ok(embedderRemove, { name: 'kitchen' });
    expect(data).toEqual({ name: 'kitchen', folder });
    expect(answer.body).toContain('Its folder is as it was');
    expect(await session.fail(embedderRemove, { name: 'kitchen' })).toMatchObject({ code: 'not_found' });
    expect((await session.ok(embedderAdd, { folder })).data).toMatchObject({ already: false });
  });
});
