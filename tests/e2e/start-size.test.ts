import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { repository, serverFile, temporaryFolder } from '../support/app.ts';
import { LineClient } from '../support/line-client.ts';

const dist = dirname(serverFile);
const hook = join(repository, 'tests', 'fixtures', 'loaded-files.cjs');

interface Loaded {
  files: string[];
  kilobytes: number;
}

/** The files of ours that the server has loaded when it has answered. */
async function loadedBy(ask: (client: LineClient) => Promise<unknown>): Promise<Loaded> {
  const [cwd, home] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
  const report = join(home, 'loaded.json');
  // What is loaded ahead of the first call, or to be on the list of servers, when there is time for it, is not part of the start.
  const env = {
    BMAD_PREWARM: 'false',
    BMAD_READ_ONLY: 'true',
    LOADED_FILES: report,
    NODE_OPTIONS: `--require "${hook.replaceAll('\\', '/')}"`,
  };
  const client = await LineClient.connect({ cwd, home, env });
  await ask(client);
  client.child.stdin.end();
  await client.ended;
  const paths = (JSON.parse(await readFile(report, 'utf8')) as string[]).filter((path) =>
    path.startsWith(dist),
  );
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
  return {
    files: paths.map((path) => relative(dist, path).split(sep).join('/')).sort(),
    kilobytes: Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1000),
  };
}

const listed = (client: LineClient): Promise<unknown> => client.request('tools/list', {});

describe('the programs', () => {
  it('are at most 60 files, and have what most parts need only once', async () => {
    const files = (await readdir(dist, { recursive: true })).filter((path) => path.endsWith('.cjs'));
    const sizes = await Promise.all(files.map(async (path) => (await stat(join(dist, path))).size));
    const kilobytes = Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1000);
    expect(files.length).toBeLessThanOrEqual(60);
    expect(kilobytes, 'See IN_COMMON in scripts/bundle.ts.').toBeLessThan(6_000);
  });
});

/**
 * Hosts start the server with every session, and all it loads is compiled and run before it can answer. What is held
 * here is bytes, which are the same on every machine; `npm run bench` has the times.
 */
describe('what the start of the server loads', () => {
  it('is one file of limited size, and none of the operations, readers or parsers', async () => {
    const { files, kilobytes } = await loadedBy(listed);
    expect(
      files,
      'A part that most sessions never need is loaded at the start. Load it with import() on first use; see LATE_PARTS in scripts/bundle.ts and docs/decisions/0010-start-and-bundles.md.',
    ).toEqual([basename(serverFile), 'server.cjs']);
    expect(
      kilobytes,
      'server.cjs has grown. Something that only a call needs is imported by a file that the start needs; esbuild’s metafile says which.',
    ).toBeLessThan(447);
  });

  it('is joined at the first call by the operations and the content, and by no parser', async () => {
    const { files, kilobytes } = await loadedBy(async (client) => {
      await listed(client);
      const { result } = await client.callTool({ operation: 'list', query: 'agents' });
      expect(JSON.stringify(result)).toContain('architect');
    });
    expect(files).toEqual([basename(serverFile), 'operations.cjs', 'server.cjs', 'workspace.cjs']);
    expect(kilobytes).toBeLessThan(1_038);
  });
});
