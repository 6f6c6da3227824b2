import { afterAll, describe, expect, it } from 'vitest';
import { openSession } from '../../../tests/support/operations.ts';
import { settings } from '../../config/schema.ts';
import { configShow } from './config-show.ts';

describe('config_show', () => {
  it('shows each value with its source', async () => {
    const session = await openSession(afterAll, {
      flags: { pageSize: '7' },
      env: { BMAD_ANSWER_BYTES: '5000', BMAD_MAX_FILE_BYTES: 'abc', BMAD_QDRANT_API_KEY: 'abc' },
    });
    const { answer, data } = await session.ok(configShow);
    const shown = data['settings'] as { name: string; value: string; from: string }[];
    expect(shown.map(({ name }) => name)).toEqual(settings().map(({ fileKey }) => fileKey));
    const given = shown.filter(({ from }) => from !== 'default');
    expect(given).toEqual([
      { name: 'qdrant_api_key', value: '***', from: 'environment BMAD_QDRANT_API_KEY' },
      { name: 'code_search_ms', value: '60000', from: 'command-line default' },
      { name: 'usage', value: 'false', from: 'command-line default' },
      { name: 'answer_bytes', value: '5000', from: 'environment BMAD_ANSWER_BYTES' },
      { name: 'page_size', value: '7', from: 'flag --page-size' },
    ]);
    expect(shown).toContainEqual({ name: 'toolsets', value: 'bmad, project, memory', from: 'default' });
    expect(shown).toContainEqual({ name: 'max_file_bytes', value: '10485760', from: 'default' });
    expect(shown).toContainEqual({ name: 'http_token', value: '(not set)', from: 'default' });
    expect(answer.body).toContain(`Project in use: ${session.folder} (the working directory)`);
    expect(answer.body).toMatch(
      /Warning: environment BMAD_MAX_FILE_BYTES: "abc" is not valid for max_file_bytes\./,
    );
  });

  it('shows which tools are offered, and why', async () => {
    const session = await openSession(afterAll, {
      flags: { toolsets: ['bmad,workflows'], tools: ['bmad-resources'] },
      env: { BMAD_EXCLUDE_TOOLS: 'execute_task' },
    });
    const { answer } = await session.ok(configShow);
    expect(answer.body).toContain('| bmad | bmad | yes | toolsets (flag --toolsets) |');
    expect(answer.body).toContain(
      '| execute_task | workflows | no | exclude_tools (environment BMAD_EXCLUDE_TOOLS) |',
    );
    expect(answer.body).toContain('| bmad-resources | agents | yes | tools (flag --tools) |');
    expect(answer.body).toContain(
      '| bmad-workflow | agents | no | toolsets (flag --toolsets): bmad, workflows |',
    );
    expect(answer.body).toContain('Agent tools: none, by toolsets (flag --toolsets): bmad, workflows.');
  });

  it('shows the tools of agents where one may be offered', async () => {
    const session = await openSession(afterAll, {
      flags: { toolsets: ['agents'], excludeTools: ['bmm-dev'] },
    });
    const { answer } = await session.ok(configShow);
    expect(answer.body).toContain('| bmm-architect | agents | yes | toolsets (flag --toolsets) |');
    expect(answer.body).toContain('| bmm-dev | agents | no | exclude_tools (flag --exclude-tools) |');
    expect(answer.body).toContain('Agent tools: 4 of 5 agents.');
  });
});
