import { afterAll, describe, expect, it } from 'vitest';
import { openSession } from '../../../tests/support/operations.ts';
import { bmad } from './bmad.ts';
import { toolCall } from './forms.ts';

const session = await openSession(afterAll);

describe('bmad', () => {
  it.each([
    [{ operation: 'list', query: 'agents' }, 'list', { what: 'agents', total: 5 }],
    [{ operation: 'list', query: 'agent' }, 'list', { what: 'agents', total: 5 }],
    [{ operation: 'list', type: 'workflows', query: 'epics' }, 'list', { what: 'workflows' }],
    [{ operation: 'list', type: 'agent', query: 'agents' }, 'list', { what: 'agents', total: 5 }],
    [
      { operation: 'list', query: 'workflows', module: 'core', category: 'anytime', limit: 2 },
      'list',
      { total: 6 },
    ],
    [{ operation: 'list', query: 'files', pattern: 'scripts/*' }, 'list', { what: 'resources', total: 5 }],
    [{ operation: 'list' }, 'list', { what: 'agents' }],
    [
      { operation: 'read', agent: 'analyst' },
      'read',
      { uri: 'bmad://bmm/agents/bmad-agent-analyst/SKILL.md' },
    ],
    [
      { operation: 'read', type: 'agent', agent: 'analyst' },
      'read',
      { uri: 'bmad://bmm/agents/bmad-agent-analyst/SKILL.md' },
    ],
    [
      { operation: 'read', type: 'workflow', query: 'prd' },
      'read',
      { uri: 'bmad://bmm/plan/bmad-prd/SKILL.md' },
    ],
    [{ operation: 'read', workflow: 'help' }, 'read', { uri: 'bmad://core/bmad-help/SKILL.md' }],
    [{ type: 'resource', uri: 'bmad://bmm/config.yaml' }, 'read', { mimeType: 'application/x-yaml' }],
    [{ uri: 'core/config.yaml' }, 'read', { mimeType: 'application/x-yaml' }],
    [
      { operation: 'execute', agent: 'analyst', message: 'hi' },
      'execute',
      { name: 'bmm/bmad-agent-analyst' },
    ],
    [{ operation: 'execute', workflow: 'brainstorming' }, 'execute', { name: 'core/bmad-brainstorming' }],
    [{ agent: 'dev' }, 'execute', { name: 'bmm/bmad-agent-dev' }],
    [{ command: 'bmm/architect' }, 'execute', { name: 'bmm/bmad-agent-architect' }],
    [{ command: '*party-mode' }, 'execute', { name: 'core/bmad-party-mode' }],
    [{ command: '*core/brainstorming' }, 'execute', { name: 'core/bmad-brainstorming' }],
    [{ command: 'list workflows' }, 'list', { what: 'workflows' }],
    [{ command: 'read bmad://core/config.yaml' }, 'read', { mimeType: 'application/x-yaml' }],
    [{ command: 'execute architect please review' }, 'execute', { name: 'bmm/bmad-agent-architect' }],
    [{ command: '/bmad-prd' }, 'execute', { name: 'bmm/bmad-prd' }],
    [{ command: 'bmad architect' }, 'execute', { name: 'bmm/bmad-agent-architect' }],
    [{ command: 'read prd' }, 'read', { uri: 'bmad://bmm/plan/bmad-prd/SKILL.md' }],
    [
      { operation: 'execute', agent: 'dev', workflow: '', module: '', cursor: null, message: '' },
      'execute',
      { name: 'bmm/bmad-agent-dev' },
    ],
    [{ operation: 'explain', agent: 'dev' }, 'explain', { is: 'record' }],
    [{ command: 'search research' }, 'search', { query: 'research' }],
    [{ operation: 'search', query: 'research', type: 'workflow' }, 'search', { query: 'research' }],
    [{ operation: 'doctor' }, 'doctor', { ok: true }],
  ])('understands %j', async (input, operation, result) => {
    const { data } = await session.ok(bmad, input);
    expect(data['operation']).toBe(operation);
    expect(data['result']).toMatchObject(result);
  });

  it('takes the words after a bare name for the message', async () => {
    const { answer } = await session.ok(bmad, { command: 'architect please review our plan' });
    expect(answer.body).toContain('```text\nplease review our plan\n```');
  });

  it('teaches its forms when called with nothing', async () => {
    const error = await session.fail(bmad, {});
    expect(error.message).toBe('bmad: "operation" is missing.');
    expect(error.textWith(toolCall)).toContain(
      'Start an agent: bmad {operation:"execute", agent:"architect", message:"…"}',
    );
  });

  it('M-18: teaches the forms and suggests the name where a command says the tool or a kind', async () => {
    const named = await session.fail(bmad, { command: 'bmad' });
    expect(named.textWith(toolCall)).toContain(
      'Start an agent: bmad {operation:"execute", agent:"architect"',
    );
    const kind = await session.fail(bmad, { command: 'agents/analyst' });
    expect(kind.suggestions).toEqual(['analyst']);
    expect(kind.textWith(toolCall)).toContain('Did you mean: analyst?');
    const module = await session.fail(bmad, { operation: 'execute', agent: 'agents/analyst' });
    expect([module.message, module.suggestions]).toEqual(['There is no module "agents".', ['analyst']]);
    await session.ok(bmad, { command: kind.suggestions[0] });
  });

  it('shows examples that work', async () => {
    const error = await session.fail(bmad, {});
    const examples = [...error.textWith(toolCall).matchAll(/\{([^}]*)\}/g)].map(
      ([, body = '']) => JSON.parse(`{${body.replace(/(\w+):"/g, '"$1":"')}}`) as Record<string, string>,
    );
    expect(examples.length).toBeGreaterThanOrEqual(7);
    for (const example of examples) await session.ok(bmad, example);
  });

  it.each([
    [
      { operation: 'dance' },
      /^bmad: "operation" must be one of list, search, read, execute, .*, not "dance"\.$/,
    ],
    [{ operation: 'list', query: 'agentz' }, /^bmad: "agentz" cannot be listed/],
    [{ operation: 'read' }, /^bmad: read needs "agent", "workflow" or "uri"/],
    [{ operation: 'execute' }, /^bmad: execute needs "agent" or "workflow"\./],
    [
      { operation: 'execute', agent: 'dev', workflow: 'prd' },
      /^bmad: give one of "agent" and "workflow", not both/,
    ],
    [{ operation: 'execute', agent: '' }, /^bmad: execute needs "agent" or "workflow"\./],
    [{ operation: 'execute', agent: '   ' }, /is not a valid name/],
    [{ operation: 'read', agent: 42 }, /^bmad: "agent" must be text, not 42\.$/],
    [{ operation: 'read', agent: ['x'] }, /^bmad: "agent" must be text, not a list\.$/],
    [
      { operation: 'execute', agent: 'dev', message: { a: 1 } },
      /^bmad: "message" must be text, not an object\.$/,
    ],
    [{ operation: 'list', query: 'agents', limit: 0 }, /^bmad: "limit" must be at least 1, not 0\.$/],
    [{ operation: 'list', limit: 400 }, /^bmad: "limit" must be at most 200, not 400\.$/],
    [{ operation: 'search', query: ' ' }, /^search: "query" must not be empty\.$/],
    [{ bogus: 1 }, /^bmad: there is no argument "bogus"/],
    [{ command: '   ' }, /^bmad: the command is empty/],
    [{ command: 'bmad' }, /^bmad: the command names the tool itself, and nothing to do with it\.$/],
    [{ command: '/bmad' }, /^bmad: the command names the tool itself/],
    [
      { command: 'agents/analyst' },
      /^bmad: "agents\/analyst" begins with a kind, but only a module may come first\.$/,
    ],
    ['text', /^bmad: the arguments must be an object, not /],
    [[1], /^bmad: the arguments must be an object, not /],
  ])('refuses %j in words', async (input, message) => {
    const error = await session.fail(bmad, input);
    expect(error.code).toBe('invalid_input');
    expect(error.message).toMatch(message);
    expect(error.text).not.toContain('[object Object]');
  });
});
