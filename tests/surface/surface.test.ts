import { settingMeta } from '../../src/config/settings.ts';
import { afterAll, describe, expect, it } from 'vitest';
import { declarations } from '../../scripts/reference/pages.ts';
import meanings from '../../assets/api/errors.json' with { type: 'json' };
import { ERROR_CODES, type ErrorCode } from '../../src/base/errors.ts';
import * as library from '../../src/bin/library.ts';
import { pageHelp } from '../../src/bin/page.ts';
import { serveHelp } from '../../src/bin/http-access.ts';
import { settings } from '../../src/config/schema.ts';
import { operations } from '../../src/operations/index.ts';
import { isForPrograms } from '../../src/operations/reachable.ts';
import { openApiDocument } from '../../src/surfaces/http/api/openapi.ts';
import { INSTRUCTIONS } from '../../src/surfaces/mcp/instructions.prepared.ts';
import { templateList } from '../../src/surfaces/mcp/resources.ts';
import { toolList } from '../../src/surfaces/mcp/tools.ts';
import { listPrompts } from '../../src/operations/client/prompts.ts';
import { runProgram } from '../../src/surfaces/cli/program.ts';
import { settingsHelp } from '../../src/config/flags.ts';
import { TOOLSETS } from '../../src/base/product.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { openSession } from '../support/operations.ts';

/** What users and hosts see, pinned in files: a changed word is visible in review. `npm run update` rewrites them. */
const snapshot = (name: string): string => `./__snapshots__/${name}`;
const allTools = await toolList(
  await contextIn(await temporaryFolder(afterAll), { flags: { toolsets: [...TOOLSETS] } }),
  testCall(),
);
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** The lines of a declaration that say something, without comments. */
const membersOf = (text: string): string[] =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && line !== '}')
    .slice(text.includes('{\n') ? 1 : 0);

describe('the surface', () => {
  it.each(allTools.map((tool) => [tool.name, tool] as const))('tool %s', async (name, tool) => {
    await expect(json(tool)).toMatchFileSnapshot(snapshot(`tools/${name}.json`));
  });

  it('prompts', async () => {
    const session = await openSession(afterAll);
    await expect(json((await session.ok(listPrompts)).data)).toMatchFileSnapshot(snapshot('prompts.json'));
  });

  it('resource templates', async () => {
    await expect(json(templateList())).toMatchFileSnapshot(snapshot('resource-templates.json'));
  });

  it('server instructions, at most 2,000 characters with the tool in the first sentence', async () => {
    expect(INSTRUCTIONS.length).toBeLessThanOrEqual(2_000);
    expect(INSTRUCTIONS.slice(0, 40)).toContain('"bmad"');
    await expect(`${INSTRUCTIONS}\n`).toMatchFileSnapshot(snapshot('instructions.txt'));
  });

  it('settings', async () => {
    const table = settings().map(({ schema, ...setting }) => ({
      ...setting,
      registered: settingMeta.has(schema),
    }));
    await expect(json(table)).toMatchFileSnapshot(snapshot('settings.json'));
  });

  it('HTTP API', async () => {
    const document = openApiDocument(operations.filter(isForPrograms), { secured: true });
    // Examples are recorded, and kept apart.
    const plain = (key: string, value: unknown): unknown => (key === 'example' ? undefined : value);
    await expect(`${JSON.stringify(document, plain, 1)}\n`).toMatchFileSnapshot(snapshot('openapi.json'));
  });

  it('errors', async () => {
    const codes = Object.entries(ERROR_CODES).map(([code, kind]) => [
      code,
      { ...kind, meaning: meanings[code as ErrorCode] },
    ]);
    await expect(json(Object.fromEntries(codes))).toMatchFileSnapshot(snapshot('errors.json'));
  });

  it('library', async () => {
    const names = Object.fromEntries(
      declarations().map(({ kind, name, text }) => [`${kind} ${name}`, membersOf(text)]),
    );
    expect(
      declarations()
        .filter(({ kind }) => kind === 'function' || kind === 'class')
        .map(({ name }) => name)
        .sort(),
    ).toEqual(Object.keys(library).sort());
    await expect(json(names)).toMatchFileSnapshot(snapshot('library.json'));
  });

  it('help of "bmad page"', async () => {
    await expect(pageHelp()).toMatchFileSnapshot(snapshot('cli/page.txt'));
  });

  it('help of "bmad serve"', async () => {
    expect(serveHelp().split('\n').length, 'it has to fit on a screen').toBeLessThanOrEqual(40);
    await expect(serveHelp()).toMatchFileSnapshot(snapshot('cli/serve.txt'));
  });

  const commands = ['', ...operations.flatMap(({ command }) => command ?? [])];
  it.each(commands)('help of "bmad %s"', async (command) => {
    const written: string[] = [];
    const context = await contextIn(await temporaryFolder(afterAll));
    const words = command === '' ? [] : command.split(' ');
    const write = (text: string): void => void written.push(text);
    const code = await runProgram([...words, '--help'], async () => context, {
      out: write,
      err: write,
      json: write,
      file: (text) => written.push(text) < 0,
      signal: new AbortController().signal,
      settingsHelp: (common) => settingsHelp({}, { common }),
    });
    expect(code).toBe(0);
    expect(written.join('').split('\n').length, 'it has to fit on a screen').toBeLessThanOrEqual(40);
    await expect(written.join('')).toMatchFileSnapshot(
      snapshot(`cli/${command.replaceAll(' ', '-') || 'bmad'}.txt`),
    );
  });
});
