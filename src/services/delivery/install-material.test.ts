import { expect, it } from 'vitest';
import type { BmadRecord } from '../../model/record.ts';
import { coreConfig } from './install-material.ts';

const record = {
  kind: 'task',
  generation: 'v4',
  bmadRelativePath: '.bmad-core/tasks/create-next-story.md',
} as BmadRecord;

it('gives every setting of a part that a text names: words, numbers, switches and lists', async () => {
  const yaml =
    'prd:\n  prdFile: docs/prd.md\n  prdVersion: 4\n  prdSharded: true\n  files: [a, b]\nother:\n  x: 1\n';
  const { values, loaded } = await coreConfig(
    { record, read: async (path) => (path === '.bmad-core/core-config.yaml' ? yaml : undefined) },
    'Use `prd.*`, not others.',
  );
  expect(values).toEqual([
    ['prdFile', 'docs/prd.md'],
    ['prdVersion', '4'],
    ['prdSharded', 'true'],
    ['files', 'a, b'],
  ]);
  expect(loaded).toBeUndefined();
});
