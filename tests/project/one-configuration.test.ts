import { describe, expect, it, onTestFinished } from 'vitest';
import { activate } from '../../src/operations/activation/activate.ts';
import { compileContext } from '../../src/operations/activation/compile-context.ts';
import { explain } from '../../src/operations/catalogue/explain.ts';
import { delegateToAgent } from '../../src/operations/delegation/delegate-to-agent.ts';
import { getProjectContext } from '../../src/operations/project/project-context.ts';
import { spawnSubagentTask } from '../../src/operations/tasks/tasks.ts';
import { taskClaim } from '../../src/operations/tasks/task-work.ts';
import { openSession } from '../support/operations.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';

const AGENT =
  '---\nname: "pm"\ndescription: "Plans"\n---\n<agent id="bmm/agents/pm" name="John" title="Product Manager" icon="x">\n' +
  '<activation>Load {project-root}/_bmad/bmm/config.yaml; greet {user_name} in {communication_language}</activation>\n</agent>\n';

const PROJECTS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  [
    'an install of 6.0 whose kit says otherwise (M-38)',
    {
      '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.4\n',
      '_bmad/core/config.yaml': 'user_name: Hélène\ncommunication_language: Français\n',
      '_bmad/bmm/config.yaml': 'user_name: Hélène\ncommunication_language: Français\n',
      '_bmad/bmm/agents/pm.md': AGENT,
      '_bmad/_memory/config.yaml': 'user_name: Tester\ncommunication_language: English\n',
    },
  ],
  [
    'an install of today, with a value of the user’s own',
    {
      '_bmad/config.toml': '[core]\nuser_name = "Somebody"\ncommunication_language = "Français"\n',
      '_bmad/config.user.toml': '[core]\nuser_name = "Hélène"\n',
    },
  ],
  [
    'the kit',
    {
      ...KIT_FILES,
      'project-context.yaml': 'user:\n  name: "Hélène"\n  language: "Français"\n',
      '_bmad/_config/custom/agents/pm.md': AGENT.replace('_bmad/bmm/config.yaml', 'project-context.yaml'),
    },
  ],
];

describe('the configuration', () => {
  it.each(PROJECTS)('is the same in all answers about %s', async (_, files) => {
    const { ok, folder } = await openSession(onTestFinished);
    await writeFiles(folder, files);
    const said = {
      get_project_context: (await ok(getProjectContext)).answer.body,
      execute: (await ok(activate, { name: 'pm' })).answer.body,
      context: (await ok(compileContext, { name: 'pm', budget: 6_000 })).answer.body,
      delegate_to_agent: (await ok(delegateToAgent, { agent: 'pm', task: 'Write a plan' })).answer.body,
    };
    for (const [name, text] of Object.entries(said)) {
      expect(text, name).toContain('Français');
      expect(text, name).not.toMatch(/Tester|Somebody|\bEnglish\b/);
    }
    for (const [key, value] of [
      ['user_name', 'Hélène'],
      ['communication_language', 'Français'],
    ] as const)
      expect((await ok(explain, { target: key })).answer.note, key).toContain(`In force: "${value}"`);
    await ok(spawnSubagentTask, { agent: 'pm', task: 'Write a plan', output_key: 'plan' });
    const { answer } = await ok(taskClaim, { worker: 'one' });
    expect(answer.body).toContain('Français');
  });
});
