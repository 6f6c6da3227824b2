import { writeFiles } from './folders.ts';

const THEMES = [
  'risk',
  'story',
  'market',
  'design',
  'deploy',
  'review',
  'research',
  'budget',
  'data',
  'sprint',
];

export const workflowText = (name: string, mark: string): string =>
  `---\nname: ${name}\ndescription: "Handles ${THEMES[name.length % THEMES.length]} work of ${name}. ${mark}"\n---\n\n# ${name}\n\n${mark}\n`;

export const agentText = (name: string, mark: string): string =>
  `---\nname: "${name}"\ndescription: "${mark}"\n---\n\n<agent id="${name}" name="${name}" title="Agent ${mark}" icon="🤖">\n<menu>\n<item cmd="*go" workflow="{project-root}/_bmad/bmm/workflows/flow-1/workflow.md">${mark}</item>\n</menu>\n</agent>\n`;

/** An install of 6.0 in a folder: so many workflows, a tenth as many agents, each workflow with a template. */
export async function writeTree(folder: string, workflows: number): Promise<void> {
  const files: Record<string, string> = {
    '_bmad/_config/manifest.yaml':
      'installation:\n  version: 6.0.4\nmodules:\n  - name: bmm\n    version: 6.0.4\n',
    '_bmad/bmm/config.yaml': 'user_name: Ada\n',
  };
  for (let at = 0; at < workflows; at += 1) {
    const place = `_bmad/bmm/workflows/flow-${at}`;
    files[`${place}/workflow.md`] = workflowText(`flow-${at}`, `Theme ${THEMES[at % THEMES.length]}`);
    files[`${place}/template.md`] = `# Template ${at}\n`;
    if (at % 10 === 0) files[`_bmad/bmm/agents/agent-${at}.md`] = agentText(`agent-${at}`, `Mark ${at}`);
  }
  await writeFiles(folder, files);
}
