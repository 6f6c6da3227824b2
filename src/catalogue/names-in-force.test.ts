import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeFiles } from '../../tests/support/folders.ts';
import { openSession } from '../../tests/support/operations.ts';
import { temporaryFolder } from '../../tests/support/app.ts';
import { activate } from '../operations/activation/activate.ts';
import { list } from '../operations/catalogue/list.ts';
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
});
