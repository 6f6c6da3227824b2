import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { contentRoot, temporaryFolder } from '../support/app.ts';
import { expectError, expectServing } from '../support/error-answers.ts';
import { type Lines, linesHere } from '../support/line-client.ts';

const CANARY = 'canary-7f3a9e';

const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);
const outside = await temporaryFolder(afterAll);
const canaryFile = join(outside, 'canary.toml');
await writeFile(canaryFile, `[workflow]\npersistent_facts = ["${CANARY}"]\n`);

/** The way from the content to the canary, which every spelling below tries to go. */
const climb = relative(contentRoot, canaryFile);
const encoded = (text: string, character: string, code: string): string => text.replaceAll(character, code);

const SPELLINGS: [name: string, path: string][] = [
  ['plain', climb],
  ['absolute', canaryFile],
  ['with two slashes', `/${canaryFile}`],
  ['from inside', `bmm/../${climb}`],
  ['from a real folder', `bmm/agents/../../${climb}`],
  ['with a dot', `./${climb}`],
  ['with doubled slashes', encoded(climb, '/', '//')],
  ['with backslashes', encoded(climb, '/', '\\')],
  ['with encoded dots', encoded(climb, '..', '%2e%2e')],
  ['with encoded dots in capitals', encoded(climb, '..', '%2E%2E')],
  ['with one dot encoded', encoded(climb, '..', '.%2e')],
  ['with encoded slashes', encoded(climb, '/', '%2f')],
  ['with encoded backslashes', encoded(climb, '/', '%5c')],
  ['with all of it encoded', encoded(encoded(climb, '..', '%2e%2e'), '/', '%2f')],
  ['encoded twice', encoded(climb, '..', '%252e%252e')],
  ['in overlong UTF-8', encoded(climb, '..', '%c0%ae%c0%ae')],
  ['in full-width dots', encoded(climb, '.', '\uFF0E')],
  ['in full-width slashes', encoded(climb, '/', '\uFF0F')],
  ['with a two-dot leader', encoded(climb, '..', '\u2025')],
  ['with dots and a space', encoded(climb, '../', '.. /')],
  ['with more dots', encoded(climb, '../', '..../')],
  ['with a NUL', `${climb}\0.md`],
  ['with an encoded NUL', `${climb}%00.md`],
  ['with a line break', `bmm\n/${climb}`],
  ['with a query', `bmm/config.yaml?../${climb}`],
  ['with a fragment', `bmm/config.yaml#/../${climb}`],
  ['under a name', `agents/${climb}`],
  ['under an encoded name', `agents/${encodeURIComponent(climb)}`],
  ['among rendered files', `rendered/bmad-build/${climb}`],
  ['from the home folder', `~/${climb}`],
  ['as on Windows', `C:\\${climb}`],
  ['in /proc', `/proc/self/root${canaryFile}`],
];

const URIS: [name: string, uri: string][] = [
  ...SPELLINGS.map(([name, path]): [string, string] => [name, `bmad://${path}`]),
  ['with three slashes', `bmad:///${canaryFile}`],
  ['with one slash', `bmad:/${canaryFile}`],
  ['in capitals', `BMAD://${climb}`],
  ['with a host', `bmad://localhost${canaryFile}`],
  ['of a file', `file://${canaryFile}`],
  ['of a file in capitals', `FILE://${canaryFile}`],
  ['of data', `data:text/plain,${canaryFile}`],
  ['of a javascript', `javascript:${canaryFile}`],
];

let client: Lines;
beforeAll(async () => {
  client = linesHere({ cwd, home });
  await client.initialize();
  return () => client.close();
});
afterEach(() => expectServing(client));

describe('a way out of the content', () => {
  it.each(URIS)('%s is refused by resources/read', async (_name, uri) => {
    const answer = await client.request('resources/read', { uri });
    expect(answer.error).toBeDefined();
    expectError(answer);
    expect(JSON.stringify(answer)).not.toContain(CANARY);
  });

  it.each([...URIS, ...SPELLINGS])('%s is refused by the tool', async (_name, uri) => {
    const answer = await client.callTool({ operation: 'read', uri });
    expect(answer.result).toHaveProperty('isError', true);
    expectError(answer);
    expect(JSON.stringify(answer)).not.toContain(CANARY);
  });

  it.each(SPELLINGS)('%s is no name of an agent or workflow', async (_name, path) => {
    for (const args of [
      { operation: 'read', agent: path },
      { operation: 'execute', workflow: path },
      { command: path },
    ]) {
      const answer = await client.callTool(args);
      expect(answer.result).toHaveProperty('isError', true);
      expectError(answer);
      expect(JSON.stringify(answer)).not.toContain(CANARY);
    }
  });

  it.each(['../**', '/**', `${outside}/*`, '**/canary.toml', '../'.repeat(30)])(
    'is not found by the pattern %s',
    async (pattern) => {
      const { result } = await client.callTool({ operation: 'list', query: 'resources', pattern });
      const [body] = (result?.['content'] ?? []) as { text: string }[];
      // Some patterns are refused, the others match no file of the content.
      expect(result?.['isError'] === true || body?.text === 'No resources.').toBe(true);
    },
  );
});

async function projectWith(prepare: (bmad: string) => Promise<void>): Promise<string> {
  const project = await temporaryFolder(afterAll);
  await mkdir(join(project, '_bmad', 'custom'), { recursive: true });
  await prepare(join(project, '_bmad'));
  return project;
}

async function execute(project: string, workflow = 'prd'): Promise<string> {
  return JSON.stringify(await client.callTool({ operation: 'execute', workflow, project, detail: 'full' }));
}

describe("a project's overrides", () => {
  it('take part when they are files of the project', async () => {
    const project = await projectWith((bmad) =>
      writeFile(join(bmad, 'custom', 'bmad-prd.toml'), `[workflow]\npersistent_facts = ["${CANARY}"]\n`),
    );
    expect(await execute(project)).toContain(CANARY);
  });

  it.each([
    ['the override', 'custom/bmad-prd.toml', canaryFile],
    ["the user's override", 'custom/bmad-prd.user.toml', canaryFile],
    ['the override, by a relative link', 'custom/bmad-prd.toml', undefined],
    ['the central configuration', 'config.toml', canaryFile],
    ["the user's central configuration", 'custom/config.user.toml', canaryFile],
  ])('are left out when %s is a link that leads out', async (_name, file, target) => {
    const project = await projectWith(async (bmad) =>
      symlink(target ?? relative(join(bmad, 'custom'), canaryFile), join(bmad, file)),
    );
    const answer = await execute(project);
    expect(answer).not.toContain(CANARY);
    expect(answer).toContain('----- BEGIN bmad:');
    expect(answer).toContain(`- _bmad/${file}: `);
    expect(await execute(project, 'party-mode')).not.toContain(CANARY);
  });

  it('are left out when their folder is a link that leads out', async () => {
    const elsewhere = await temporaryFolder(afterAll);
    await writeFile(join(elsewhere, 'bmad-prd.toml'), `[workflow]\npersistent_facts = ["${CANARY}"]\n`);
    const project = await temporaryFolder(afterAll);
    await mkdir(join(project, '_bmad'));
    await symlink(elsewhere, join(project, '_bmad', 'custom'));
    const answer = await execute(project);
    expect(answer).not.toContain(CANARY);
    expect(answer).toContain('----- BEGIN bmad:');
  });

  it('cannot smuggle a file in as the configuration of the server', async () => {
    const project = await temporaryFolder(afterAll);
    await symlink(canaryFile, join(project, 'bmad-mcp.toml'));
    const own = linesHere({ cwd: project, home, env: { BMAD_LOG_LEVEL: 'debug' } });
    await own.initialize();
    await expectServing(own);
    await own.close();
    expect(own.stderr).toContain('bmad-mcp.toml');
    expect(own.stderr).not.toContain(CANARY);
  });
});
