import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { writeFiles } from '../../tests/support/folders.ts';
import { refusal } from '../../tests/support/thrown.ts';
import { httpSettings } from './http-settings.ts';
import { loadConfig } from './load.ts';
import { settings } from './schema.ts';

const load = (env: Record<string, string>): ReturnType<typeof loadConfig> =>
  loadConfig({ flags: {}, env, files: [] });

describe('the settings of HTTP', () => {
  it('are none that a project could make', async () => {
    const folder = await temporaryFolder(afterAll);
    const own = settings().filter(({ name }) => name in httpSettings);
    expect(own.length).toBe(Object.keys(httpSettings).length);
    const lines = own.map(({ fileKey, type }) => `${fileKey} = ${type === 'number' ? 20 : '"x"'}`);
    await writeFiles(folder, { 'bmad-mcp.toml': lines.join('\n') });
    const file = { label: 'project file', path: join(folder, 'bmad-mcp.toml'), ofProject: true as const };
    const { config, warnings } = await loadConfig({ flags: {}, env: {}, files: [file] });
    expect(config).toEqual((await load({})).config);
    expect(warnings).toHaveLength(own.length);
  });

  it.each([
    ['BMAD_HTTP_TOKEN', 'secret word'],
    ['BMAD_HTTP_TOKEN', 'short'],
    ['BMAD_HTTP_SECRET', 'too short for that'],
  ])('that are secret are not repeated when they are wrong: %s', async (name, value) => {
    const error = await refusal(() => load({ [name]: value }));
    expect(error.message).toContain(name);
    expect(error.text).not.toContain(value);
  });

  it.each([
    ['BMAD_PUBLIC_URL', 'bmad.example'],
    ['BMAD_PUBLIC_URL', 'https://ada:pw@bmad.example'],
    ['BMAD_OAUTH_ISSUER', 'id.example'],
    ['BMAD_OAUTH_READ_SCOPE', 'two scopes'],
    ['BMAD_OAUTH_WRITE_SCOPE', 'quoted"'],
    ['BMAD_ALLOW_ORIGINS', 'https://app.example/page'],
    ['BMAD_ALLOW_HOSTS', 'bmad.example:443'],
    ['BMAD_HTTP_AUTH', 'off'],
  ])('stop the start when they are wrong: %s=%s', async (name, value) => {
    expect((await refusal(() => load({ [name]: value }))).code).toBe('invalid_input');
  });
});
