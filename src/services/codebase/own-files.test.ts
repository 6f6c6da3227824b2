import { describe, expect, it } from 'vitest';
import { growthOf } from '../../../tests/support/growth.ts';
import { ownFiles } from './survey.ts';

/** Which of some files are BMAD's own, where all of them are in one project. */
const own = (...paths: string[]): string[] => paths.filter(ownFiles(paths));

describe('a folder of BMAD with another name', () => {
  it.each([
    'manifest.yaml',
    'agent-manifest.csv',
    'workflow-manifest.csv',
    'task-manifest.csv',
    'tool-manifest.csv',
    'skill-manifest.csv',
    'files-manifest.csv',
    'bmad-help.csv',
  ])('is known by its %s', (name) => {
    const folder = [`tools/method/_config/${name}`, 'tools/method/bmm/agents/dev.md'];
    const old = [`method/_cfg/${name}`, 'method/core/tasks/a/b/c.xml'];
    expect(own(...folder, ...old, 'tools/methods.md', 'method.ts', 'tools/a.ts')).toEqual([
      ...folder,
      ...old,
    ]);
  });

  it('is not known by the manifests of others', () => {
    for (const name of ['theme-manifest.csv', 'web-manifest.yaml', 'manifest.csv', 'my-agent-manifest.csv'])
      expect(own(`site/_config/${name}`, 'site/index.ts', 'site')).toEqual([]);
  });

  it('takes time in proportion to the files, however many there are of both', () => {
    const make = (length: number): string => 'x'.repeat(length);
    const work = ({ length }: string): unknown =>
      own(...Array.from({ length }, (_, at) => [`${at}/_config/manifest.yaml`, `${at}/a/b.md`]).flat());
    expect(growthOf(work, make, 1_000, 4)).toBeUndefined();
  });
});
