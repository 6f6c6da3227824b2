import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Words that no two workflows share in the same number, so that a search has something to tell apart. */
const TOPICS = ['invoice', 'harbour', 'orchard', 'ledger', 'turbine', 'archive', 'festival', 'glacier'];

/** A made-up project in the shape of the 6.0 installers, with an agent for every ten workflows. */
export async function writeProject(folder: string, workflows: number): Promise<void> {
  const root = join(folder, '_bmad');
  await mkdir(join(root, '_config'), { recursive: true });
  await mkdir(join(root, 'bmm', 'agents'), { recursive: true });
  await writeFile(
    join(root, '_config', 'manifest.yaml'),
    'installation:\n  version: 6.0.4\nmodules:\n  - core\n  - bmm\n',
  );
  const rows = ['name,description,module,path'];
  for (let index = 0; index < workflows; index++) {
    const name = nameOf(index);
    const path = `bmm/workflows/${name}`;
    const about = `Does thing number ${index} with the ${TOPICS[index % TOPICS.length]}`;
    await mkdir(join(root, path), { recursive: true });
    await writeFile(
      join(root, path, 'workflow.md'),
      `---\nname: ${name}\ndescription: ${about}\n---\n\n# ${name}\n\n${'Some instructions to follow. '.repeat(40)}\n`,
    );
    rows.push(`"${name}","${about}","bmm","_bmad/${path}/workflow.md"`);
    if (index % 10 === 0)
      await writeFile(join(root, 'bmm', 'agents', `agent-${index}.md`), agentText(index, path));
  }
  await writeFile(join(root, '_config', 'workflow-manifest.csv'), `${rows.join('\n')}\n`);
}

/** What an edited agent says of itself. */
export const EDITED_TEXT = 'Does another thing now';

/** Another description in the file of one agent, as an editor saves it. */
export async function editAgent(folder: string, index: number, about = EDITED_TEXT): Promise<void> {
  const file = join(folder, '_bmad', 'bmm', 'agents', `agent-${index}.md`);
  await writeFile(file, agentText(index, `bmm/workflows/${nameOf(index)}`, about));
}

const nameOf = (index: number): string => `wf-${String(index).padStart(4, '0')}`;

function agentText(index: number, path: string, about = `Specialist ${index}`): string {
  return `---
name: "agent-${index}"
description: "${about}"
---

<agent id="agent-${index}" name="Nina ${index}" title="Specialist ${index}" icon="x">
<persona><role>Knows the ${TOPICS[index % TOPICS.length]}</role></persona>
<menu>
<item cmd="*go" exec="{project-root}/_bmad/${path}/workflow.md">[GO] Go</item>
</menu>
</agent>
`;
}
