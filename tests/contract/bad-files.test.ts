import { describe, expect, it, onTestFinished } from 'vitest';
import { type CallOutcome, execute } from '../../src/operations/execute.ts';
import { operations } from '../../src/operations/index.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';

/** What passes a parser, and is too deep for whatever walks through the value after it. */
const DEEP = `${Array.from({ length: 15_000 }, () => 'a').join('.')} = 1\n`;
const DEEP_JSON = `{"plugins": ${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
const DEEP_YAML = `a: &a [1, *a]\nagent: *a\n`;

async function answer(name: string, input: object, files: Record<string, string>): Promise<CallOutcome> {
  const folder = await temporaryFolder(onTestFinished);
  await writeFiles(folder, { '_bmad/custom/config.toml': '[core]\nuser_name = "Ada"\n', ...files });
  const operation = operations.find((each) => each.name === name);
  if (operation === undefined) throw new Error(`there is no operation ${name}`);
  return execute(operation, input, await contextIn(folder), testCall());
}

describe('one bad file fails for itself only (S-14)', () => {
  const bad = {
    '_bmad/custom/bmad-agent-architect.toml': DEEP,
    '_bmad/custom/bmad-agent-architect.user.toml': DEEP,
    '_bmad/custom/config.user.toml': DEEP,
    '_bmad/config.toml': DEEP,
    '_bmad/config.user.toml': DEEP,
    '_bmad/bmm/config.yaml': DEEP_YAML,
    '_bmad/_config/manifest.yaml': DEEP_YAML,
    '_bmad/_memory/session-state.json': DEEP_JSON,
    '.claude-plugin/marketplace.json': DEEP_JSON,
  };

  it.each([
    ['execute', { name: 'architect' }],
    ['doctor', {}],
    ['get_project_context', {}],
    ['list', {}],
    ['next', {}],
    ['config_show', {}],
    ['search', { query: 'architecture' }],
    ['explain', { target: 'architect' }],
  ])('%s answers beside it', async (name, input) => {
    await expect(answer(name, input, bad)).resolves.toMatchObject({ ok: true });
  });
});
