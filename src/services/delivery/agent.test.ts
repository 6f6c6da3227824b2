import { describe, expect, it } from 'vitest';
import { recordOf } from '../../../tests/support/records.ts';
import { agentProfile } from './agent.ts';

const agent = (format: 'skill' | 'compiled-agent' | 'v4-agent') => recordOf('agent bmm/x', { format });

describe('the profile of an agent', () => {
  it('is read from compiled markup, entities decoded', () => {
    const text =
      '<agent name="W"><persona><role>Lead</role><identity>Knows &apos;it&apos;</identity></persona>\n<menu><item cmd="*help">Show numbered menu</item><item cmd="CA or fuzzy match on x" exec="y">[CA] Create A</item></menu></agent>';
    expect(agentProfile(agent('compiled-agent'), text, {})).toEqual({
      role: 'Lead',
      identity: "Knows 'it'",
      menu: [
        { code: '*help', text: 'Show numbered menu' },
        { code: 'CA', also: ['x'], text: 'Create A', target: 'y' },
      ],
    });
  });

  it('is that of the persona, whatever comments and rules say of the tags', () => {
    const text = [
      '<!-- ARCHETYPE: web-app. Adapt the <identity> and the',
      '     <role> to your project, and <item cmd="XX">[XX] add items</item>. -->',
      '---',
      'name: "fullstack-dev"',
      'description: "Stack"',
      '---',
      "You must fully embody this agent's persona.",
      '```xml',
      '<agent id="fullstack-dev.agent.yaml" name="Stack" title="Full-stack" icon="⚡">',
      '<activation critical="MANDATORY"><step n="2">AGENT_TAG=stack | AGENT_NAME=Stack</step>',
      '<rules><r>Keep to your <role>role</role> and <identity>identity</identity></r></rules></activation>',
      '<persona>',
      '<role>Full-stack &amp; feature engineer</role>',
      '<!-- <identity>An older one</identity> -->',
      '<identity>Knows the whole application</identity>',
      '<communication_style>Brief</communication_style>',
      '</persona>',
      '<menu><item cmd="FF or fuzzy match on feature" action="#feature">[FF] Feature</item></menu>',
      '</agent>',
      '```',
    ].join('\n');
    expect(agentProfile(agent('compiled-agent'), text, {})).toEqual({
      role: 'Full-stack & feature engineer',
      identity: 'Knows the whole application',
      menu: [{ code: 'FF', also: ['feature'], text: 'Feature', prompt: 'feature' }],
    });
  });

  it('is read from the YAML block of version 4', () => {
    const text =
      'intro\n```yaml\npersona:\n  role: Analyst\n  identity: Curious\ncommands:\n  - help: Show list\n  - create-doc {template}: run it\n  - plain: \n  - "*bare do it"\n```\n';
    expect(agentProfile(agent('v4-agent'), text, {})).toEqual({
      role: 'Analyst',
      identity: 'Curious',
      menu: [
        { code: '*help', text: 'Show list' },
        { code: '*create-doc {template}', text: 'run it' },
        { code: '*plain', text: 'plain' },
        { code: '*bare', text: 'do it' },
      ],
    });
  });

  it('is read from the customization, else from the headings of a skill', () => {
    const customization = {
      agent: { identity: 'Own', menu: [{ code: 'A', description: 'Act', skill: 'x' }, 'no table'] },
    };
    expect(agentProfile(agent('skill'), '', customization)).toEqual({
      identity: 'Own',
      menu: [{ code: 'A', text: 'Act', target: 'x' }],
    });
    const text =
      '# X\n\n## Identity\n\nSenior.\n\nMore.\n\n## Capabilities\n\n| Code | Description | Skill |\n|---|---|---|\n| CA | Create | x |\n';
    expect(agentProfile(agent('skill'), text, {})).toEqual({
      identity: 'Senior.',
      menu: [{ code: 'CA', text: 'Create', target: 'x' }],
    });
  });

  it.each(['', '```yaml\na: [', '<item <item <item', '<identity>never closed', '| A | B', '\0'])(
    'of %j is empty, not an error',
    (text) => {
      for (const format of ['skill', 'compiled-agent', 'v4-agent'] as const)
        expect(agentProfile(agent(format), text, {})).toEqual({ menu: [] });
    },
  );

  it('stays short and quick, however long the file', () => {
    const text = `<identity>${'x '.repeat(500_000)}</identity>${'<item cmd="a">b</item>'.repeat(20_000)}${'<item '.repeat(50_000)}`;
    const { identity, menu } = agentProfile(agent('compiled-agent'), text, {});
    expect(identity?.length).toBeLessThanOrEqual(1_000);
    expect(menu).toHaveLength(60);
  });
});
