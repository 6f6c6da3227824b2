import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../../src/operations/context.ts';
import { execute } from '../../src/operations/execute.ts';
import { doctor } from '../../src/operations/server/doctor.ts';
import { namedOperation } from '../../src/operations/offers.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { done } from '../support/delegation-desk.ts';
import { writeFiles } from '../support/folders.ts';

const agent = (name: string, role: string): string =>
  `<agent id="${name}" name="${name}" title="T">\n<persona><role>${role}</role></persona>\n</agent>\n`;
const BROKEN = 'name: broken\ninstructions: [one\nother: two\n';
const WINDOWS = process.platform === 'win32';

async function opened(files: Readonly<Record<string, string | Buffer>>) {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, files);
  const context: Context = await contextIn(folder, { flags: { discovery: 'local' } });
  return async (name: string, input: object) =>
    done(await execute(name === 'doctor' ? doctor : await namedOperation(name), input, context, testCall()));
}

describe('M-13: files that are not as they should be', () => {
  let ask: Awaited<ReturnType<typeof opened>>;
  let checkup: Awaited<ReturnType<typeof ask>>;

  beforeAll(async () => {
    ask = await opened({
      '_bmad/_config/manifest.yaml':
        'installation:\n  version: 6.0.4\nmodules:\n  - core\n  - bmm\n  - custom\n',
      '_bmad/_config/agent-manifest.csv':
        'name,displayName,title,icon,role,module,path\n"empty","E","","","","bmm","_bmad/bmm/agents/empty.md"\n' +
        '"listed.tpl","T","","","","bmm","_bmad/bmm/agents/listed.tpl.md"\n',
      '_bmad/_config/workflow-manifest.csv':
        'name,description,module,path\n"broken","Listed","bmm","_bmad/bmm/workflows/broken/workflow.yaml"\n',
      '_bmad/core/config.yaml': 'user_name: Ada\n',
      '_bmad/custom/': '',
      '_bmad/bmm/agents/pm.md': agent('John', 'Manager'),
      '_bmad/bmm/agents/empty.md': '',
      '_bmad/bmm/agents/unlisted.md': ' \n',
      '_bmad/bmm/agents/custom-agent.tpl.md': agent('{{name}}', '{{role}}'),
      '_bmad/bmm/agents/listed.tpl.md': agent('{{name}}', '{{role}}'),
      '_bmad/bmm/agents/uma.md': Buffer.from(`\uFEFF${agent('Uma', 'Été à Zoé')}`, 'utf16le'),
      ...(WINDOWS ? {} : { '_bmad/bmm/agents/two\nlines.md': agent('Lin', 'Lines') }),
      '_bmad/bmm/workflows/broken/workflow.yaml': BROKEN,
      '.bmad-core/core-config.yaml': 'markdownExploder: true\n',
      '.bmad-core/agents/dev.md': '',
      '.bmad-core/workflows/greenfield.yaml': BROKEN,
    });
    checkup = await ask('doctor', { handshake: false });
  });

  it('are findings of the doctor, each by its file', () => {
    for (const line of [
      'BROKEN: bmm/agents/empty.md: the file is empty',
      'bmm/agents/unlisted.md: the file is empty',
      /Notice: bmm\/agents\/uma\.md: the file is UTF-16/,
      'Notice: bmm/agents/custom-agent.tpl.md: it is a template, and not served as an agent',
      'Notice: _config/manifest.yaml: the module "custom" is listed and has no content',
      /bmm\/workflows\/broken\/workflow\.yaml:3: /,
      '.bmad-core/agents/dev.md: the file is empty',
      /\.bmad-core\/workflows\/greenfield\.yaml:3: /,
    ])
      expect(checkup.body).toMatch(
        typeof line === 'string' ? new RegExp(line.replaceAll(/[.*()]/g, '\\$&')) : line,
      );
    expect(checkup.data['ok']).toBe(false);
    expect(checkup.data['modules']).not.toContain('custom');
  });

  it('are not started where there is nothing to follow', async () => {
    for (const name of ['bmm/empty', 'bmm/broken']) {
      const { body } = await ask('execute', { name });
      expect(body).toContain('HALT: this file cannot be followed.');
      expect(body).not.toMatch(/^(?:Become this agent|Start this)/m);
      expect(body).toMatch(/## Problems\n\n- .*(?:empty|:3: )/);
    }
  });

  it('are read where they can be: UTF-16, and line breaks in names', async () => {
    const { body } = await ask('execute', { name: 'uma' });
    expect(body).toContain('<role>Été à Zoé</role>');
    expect(body).toContain('the file is UTF-16');
    const listed = (await ask('list', { what: 'agents' })).body;
    expect(listed).toContain('**uma** Uma');
    expect(listed).not.toMatch(/tpl|\{\{/);
    if (!WINDOWS) expect(listed).toContain('**two lines** Lin');
  });
});

describe('M-48: the workflows of the custom kit', () => {
  it('are listed, found and started; its templates are not', async () => {
    const ask = await opened({
      '_bmad/_config/custom/agents/stack.md': agent('Stack', 'Dev'),
      '_bmad/_config/custom/workflows/incident-response.md':
        '---\nname: incident-response\ndescription: Réponse aux incidents et post-mortems\n---\n\n# Workflow\n\nTrier {user_name}.\n',
      '_bmad/_config/custom/workflows/state-checkpoint.md':
        '# State Checkpoint & Resume Protocol\n\nReprendre.\n',
      '_bmad/_config/custom/workflows/workflow-status.tpl.md': '# {{workflow_name}}\n',
      '_bmad/_config/custom/workflows/README.md': '# Lisez-moi\n',
      'project-context.yaml': 'user:\n  name: "Alice Martin"\n',
    });
    const { body } = await ask('list', { what: 'workflows' });
    expect(body).toContain('**incident-response**');
    expect(body).toContain('Réponse aux incidents et post-mortems');
    expect(body).toContain('State Checkpoint & Resume Protocol');
    expect(body).not.toMatch(/tpl|README/i);
    const started = await ask('execute', { name: 'incident-response', kind: 'workflow' });
    expect(started.body).toContain('Trier {user_name}.');
    expect(started.body).toContain('`{user_name}`: Alice Martin');
    expect(started.body).not.toContain('state-checkpoint');
    expect((await ask('search', { query: 'réponse aux incidents' })).body).toContain('incident-response');
  });
});
