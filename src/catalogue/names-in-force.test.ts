import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeFiles } from '../../tests/support/folders.ts';
import { openSession } from '../../tests/support/operations.ts';
import { temporaryFolder } from '../../tests/support/app.ts';
import { activate } from '../operations/activation/activate.ts';
import { describeAgents, type DescribedAgent } from '../operations/catalogue/records.ts';
import { list } from '../operations/catalogue/list.ts';
import { read } from '../operations/catalogue/read.ts';
import { doctor } from '../operations/server/doctor.ts';

const compiled = (name: string): string =>
  `---\nname: "x"\ndescription: "X"\n---\n\n\`\`\`xml\n<agent id="x.agent.yaml" name="${name}" title="T" icon="📋">\n<activation></activation>  <persona>\n    <role>R</role>\n  </persona>\n  <menu>\n  </menu>\n</agent>\n\`\`\`\n`;
const named = (name: string): string => `agent:\n  metadata:\n    name: "${name}"\n`;

async function session(files: Record<string, string>) {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, { 'home/': '', ...files });
  return openSession(afterAll, { cwd: join(folder, 'project'), home: join(folder, 'home') });
}

const heading = (text: string): string => text.split('\n', 1)[0] ?? '';

describe('names that overrides give', () => {
  it('M-05: head the agent, are listed, and start it', async () => {
    const { ok } = await session({
      'project/_bmad/custom/bmad-agent-analyst.toml': '[agent]\nname = "Marie"\n',
      'project/_bmad/custom/bmad-agent-analyst.user.toml': '[agent]\nname = "Marianne"\nicon = "🦊"\n',
    });
    for (const name of ['marianne', 'analyst', 'mary']) {
      const { answer } = await ok(activate, { name, kind: 'agent' });
      expect(heading(answer.body), name).toBe(
        '# Marianne 🦊, Business Analyst (agent bmm/bmad-agent-analyst)',
      );
    }
    const { answer } = await ok(list, { what: 'agents' });
    expect(answer.body).toContain('Marianne');
    expect(answer.body).not.toContain('Mary');
  });

  it('are shown without hidden characters, and are plain text', async () => {
    const { ok } = await session({
      'project/_bmad/custom/bmad-agent-analyst.toml': '[agent]\nname = "Mar$&ie\\U000E0049\\u202E"\n',
    });
    const { answer } = await ok(list, { what: 'agents' });
    expect(answer.body).toContain('Mar$&ie');
    expect(answer.body).not.toMatch(/[\u202E\u{E0049}]|talk to Martalk/u);
  });

  it('M-05: hold for compiled agents of the project and of the home folder', async () => {
    const { ok } = await session({
      'home/.bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.4\n',
      'home/.bmad/acme/agents/ada.md': compiled('Ada'),
      'home/.bmad/acme/agents/bob.md': compiled('Bob'),
      'home/.bmad/_config/agents/acme-ada.customize.yaml': named('Marianne'),
      // The name that Ada had is free, and somebody else takes it.
      'home/.bmad/_config/agents/acme-bob.customize.yaml': named('Ada'),
      'project/package.json': '{}',
    });
    expect(heading((await ok(activate, { name: 'marianne', kind: 'agent' })).answer.body)).toContain(
      '# Marianne 📋, T (agent acme/ada)',
    );
    expect(heading((await ok(activate, { name: 'Bob', kind: 'agent' })).answer.body)).toContain('# Ada 📋');
    expect((await ok(activate, { name: 'acme/ada', kind: 'agent' })).answer.body).toContain(
      'name="Marianne"',
    );
    const { data } = await ok(doctor, { handshake: false });
    expect(data['problems']).toEqual([]);
  });

  it('M-05: are told when two agents get the same', async () => {
    const { ok, fail } = await session({
      'project/_bmad/custom/bmad-agent-analyst.toml': '[agent]\nname = "Winston"\n',
    });
    const { data } = await ok(doctor, { handshake: false });
    expect(data['problems']).toEqual([
      '_bmad/custom/bmad-agent-analyst.toml: bmm/bmad-agent-analyst and bmm/bmad-agent-architect are both called "Winston"; call them by these names',
    ]);
    expect(await fail(activate, { name: 'winston', kind: 'agent' })).toMatchObject({
      code: 'ambiguous',
      suggestions: ['bmm/bmad-agent-analyst', 'bmm/bmad-agent-architect'],
    });
  });

  it('M-05: and the persona beside them are in the manifests, in lists and in the menu', async () => {
    const { ok } = await session({
      'project/_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.4\n',
      'project/_bmad/_config/agent-manifest.csv':
        'name,displayName,title,role,identity,principles,path\nada,Ada,T,Old role,Old identity,Old,_bmad/acme/agents/ada.md\n',
      'project/_bmad/acme/agents/ada.md': compiled('Ada').replace('description: "X"', 'description: "T"'),
      'project/_bmad/_config/agents/acme-ada.customize.yaml': `${named('Marianne')}    title: Head\npersona:\n  role: "New\u202E role"\n  principles:\n    - First\n    - Second\nmenu:\n  - multi: "[A] One or [B] two"\n    triggers:\n      - one:\n          - input: "[A] or one"\n          - route: "{project-root}/_bmad/x.md"\n`,
      'project/_bmad/core/workflows/party-mode/workflow.md':
        '---\nname: party-mode\ndescription: Talk\n---\nLoad {project-root}/_bmad/_config/agent-manifest.csv\n',
      'project/_bmad/custom/bmad-agent-pm.toml':
        '[agent]\nrole = "Decides"\nprinciples = ["Ours comes last."]\n',
    });
    const lines = String((await ok(read, { target: 'bmad://manifests/agents' })).data['text']).split('\n');
    expect(lines.find((line) => line.startsWith('ada,'))).toMatch(
      /^ada,Marianne,Head,📋,New role,,,First Second,acme,/,
    );
    expect(lines.find((line) => line.startsWith('bmad-agent-pm,'))).toMatch(
      /,Decides,.*\. Ours comes last\./,
    );
    expect((await ok(list, { what: 'agents' })).answer.body).toContain(
      '- **ada** Marianne 📋 Head (acme): New role',
    );
    const { answer } = await ok(activate, { name: 'party-mode' });
    expect(answer.body).toContain(
      'for the agents as they are now: bmad {operation:"read", uri:"bmad://manifests/agents"}.',
    );
    const [agent] = (await ok(describeAgents, { name: 'marianne' })).data['agents'] as DescribedAgent[];
    expect(agent?.menuItems).toContainEqual(expect.stringContaining('or one'));
  });
});
