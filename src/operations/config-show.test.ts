import { afterAll, describe, expect, it } from 'vitest';
import { openSession } from '../../tests/support/operations.ts';
import { configShow } from './config-show.ts';

describe('config_show', () => {
  it('shows each value with its source', async () => {
    const session = await openSession(afterAll, {
      flags: { pageSize: '7' },
      env: { BMAD_ANSWER_BYTES: '5000', BMAD_MAX_FILE_BYTES: 'abc', BMAD_QDRANT_API_KEY: 'abc' },
    });
    const { answer, data } = await session.ok(configShow);
    expect(data['settings']).toEqual([
      { name: 'project', value: '(not set)', from: 'default' },
      { name: 'paths', value: '(not set)', from: 'default' },
      { name: 'root', value: '(not set)', from: 'default' },
      { name: 'discovery', value: 'auto', from: 'default' },
      { name: 'git', value: '(not set)', from: 'default' },
      { name: 'git_refresh', value: '0', from: 'default' },
      { name: 'git_approval', value: 'ask', from: 'default' },
      { name: 'git_timeout_ms', value: '60000', from: 'default' },
      { name: 'cache', value: '(not set)', from: 'default' },
      { name: 'toolsets', value: 'bmad, project, memory', from: 'default' },
      { name: 'tools', value: '(not set)', from: 'default' },
      { name: 'exclude_tools', value: '(not set)', from: 'default' },
      { name: 'read_only', value: 'false', from: 'default' },
      { name: 'memory_engine', value: 'auto', from: 'default' },
      { name: 'memory_journal', value: 'auto', from: 'default' },
      { name: 'embedder', value: 'auto', from: 'default' },
      { name: 'qdrant_url', value: '(not set)', from: 'default' },
      { name: 'qdrant_api_key', value: '***', from: 'environment BMAD_QDRANT_API_KEY' },
      { name: 'ollama_url', value: '(not set)', from: 'default' },
      { name: 'openai_url', value: 'https://api.openai.com/v1', from: 'default' },
      { name: 'openai_api_key', value: '(not set)', from: 'default' },
      { name: 'embedding_model', value: '(not set)', from: 'default' },
      { name: 'model_folder', value: '(not set)', from: 'default' },
      { name: 'code_search_ms', value: '3000', from: 'default' },
      { name: 'contract_timeout_ms', value: '120000', from: 'default' },
      { name: 'contract_env', value: '(not set)', from: 'default' },
      { name: 'contracts_over_http', value: 'false', from: 'default' },
      { name: 'a2a', value: 'false', from: 'default' },
      { name: 'a2a_without_approval', value: 'false', from: 'default' },
      { name: 'usage', value: 'false', from: 'default of the command line' },
      { name: 'boost', value: '(not set)', from: 'default' },
      { name: 'rank_half_life', value: '14', from: 'default' },
      { name: 'rank_recency', value: '35', from: 'default' },
      { name: 'rank_frequency', value: '25', from: 'default' },
      { name: 'rank_manifest', value: '15', from: 'default' },
      { name: 'rank_boost', value: '25', from: 'default' },
      { name: 'rerank', value: 'true', from: 'default' },
      { name: 'rerank_ms', value: '10000', from: 'default' },
      { name: 'delegate_depth', value: '2', from: 'default' },
      { name: 'delegate_rounds', value: '8', from: 'default' },
      { name: 'delegate_tokens', value: '60000', from: 'default' },
      { name: 'delegate_answer', value: '8192', from: 'default' },
      { name: 'delegate_seconds', value: '300', from: 'default' },
      { name: 'log_level', value: 'warn', from: 'default' },
      { name: 'answer_bytes', value: '5000', from: 'environment BMAD_ANSWER_BYTES' },
      { name: 'page_size', value: '7', from: 'flag --page-size' },
      { name: 'max_file_bytes', value: '10485760', from: 'default' },
    ]);
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
    expect(answer.body).toContain('Tools of agents: none, by toolsets (flag --toolsets): bmad, workflows.');
  });

  it('shows the tools of agents where one may be offered', async () => {
    const session = await openSession(afterAll, {
      flags: { toolsets: ['agents'], excludeTools: ['bmm-dev'] },
    });
    const { answer } = await session.ok(configShow);
    expect(answer.body).toContain('| bmm-architect | agents | yes | toolsets (flag --toolsets) |');
    expect(answer.body).toContain('| bmm-dev | agents | no | exclude_tools (flag --exclude-tools) |');
    expect(answer.body).toContain('Tools of agents: 4 of 5 agents.');
  });
});
