import { join, dirname } from 'node:path';
import { installedPackage, manifestIn } from './npm-package.ts';
import { mkdir, rm, writeFile } from 'node:fs/promises';

const PACKAGE = 'bmad-mcp-server';
const VERSION = '3.0.1';

export interface Peer {
  /** The file that starts its server. */
  entry: string;
  /** The package and what it runs on, since its dependencies are ranges. */
  label: string;
}

/** The published package; without it, what is compared with it is reported as not measured. */
export async function installedPeer(folder: string, say: (line: string) => void): Promise<Peer | undefined> {
  const peer = await installedPackage(folder, PACKAGE, VERSION, say);
  if (peer === undefined) {
    say('Going on without the peer.');
    return undefined;
  }
  const bin = typeof peer.manifest.bin === 'string' ? peer.manifest.bin : peer.manifest.bin?.[PACKAGE];
  if (bin === undefined) throw new Error(`${PACKAGE}@${VERSION} has no program named ${PACKAGE}.`);
  const sdk = await manifestIn(join(folder, 'node_modules', '@modelcontextprotocol', 'sdk'));
  const runsOn = sdk === undefined ? '' : ` on @modelcontextprotocol/sdk ${sdk.version}`;
  return { entry: join(peer.home, bin), label: `${PACKAGE}@${VERSION}${runsOn}` };
}

/** The agent that the calls are about: one of the peer's project, and one of our built-in content. */
export const AGENT = 'architect';

const AGENTS = [
  'analyst',
  AGENT,
  'dev',
  'game-designer',
  'pm',
  'release-manager',
  'sm',
  'tea',
  'tech-writer',
  'ux-designer',
];
const WORKFLOW_COUNT = 20;
const MENU_LENGTH = 4;

/**
 * Writes a project as BMAD 6 alpha laid it out, which is what the peer reads: it has no content of its own
 * and finds nothing in an empty folder. The files are about as long as the real ones.
 */
export async function writePeerProject(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const workflows = Array.from({ length: WORKFLOW_COUNT }, (_, index) => `workflow-${index + 1}`);
  const files: [string, string][] = [
    ['_cfg/agent-manifest.csv', agentManifest()],
    ['_cfg/workflow-manifest.csv', workflowManifest(workflows)],
    ['core/config.yaml', 'user_name: Bench\ncommunication_language: English\noutput_folder: ./docs\n'],
    ...AGENTS.map((name): [string, string] => [`bmm/agents/${name}.md`, agentFile(name, workflows)]),
    ...workflows.flatMap((name): [string, string][] => [
      [`bmm/workflows/${name}/workflow.yaml`, workflowFile(name)],
      [`bmm/workflows/${name}/instructions.md`, `# ${titleOf(name)}\n\n${prose(name, 30)}\n`],
    ]),
  ];
  for (const [path, text] of files) {
    const file = join(folder, 'bmad', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

/** What the peer calls the agent of that name. */
export function titleOf(name: string): string {
  return name
    .split('-')
    .map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
    .join(' ');
}

function agentManifest(): string {
  const rows = AGENTS.map((name) =>
    row(name, titleOf(name), `${titleOf(name)} of the team`, 'bmm', `bmad/bmm/agents/${name}.md`),
  );
  return ['name,displayName,title,module,path', ...rows, ''].join('\n');
}

function workflowManifest(workflows: readonly string[]): string {
  const rows = workflows.map((name) =>
    row(name, `Guides through ${titleOf(name)}`, 'bmm', `bmad/bmm/workflows/${name}/workflow.yaml`, 'true'),
  );
  return ['name,description,module,path,standalone', ...rows, ''].join('\n');
}

function row(...cells: string[]): string {
  return cells.map((cell) => `"${cell}"`).join(',');
}

function agentFile(name: string, workflows: readonly string[]): string {
  const first = AGENTS.indexOf(name) * 2;
  const menu = workflows.slice(first, first + MENU_LENGTH).map((workflow) => {
    const file = `{project-root}/bmad/bmm/workflows/${workflow}/workflow.yaml`;
    return `    <item cmd="*${workflow}" workflow="${file}">Run ${workflow}</item>`;
  });
  return `---
name: ${name}
description: ${titleOf(name)} of the team
---

\`\`\`xml
<agent id="bmad/bmm/agents/${name}.md" name="${titleOf(name)}" title="${titleOf(name)} of the team" icon="*">
  <activation critical="MANDATORY">
    <step n="1">Load the persona from this file.</step>
    <step n="2">Load {project-root}/bmad/core/config.yaml and keep its values.</step>
    <step n="3">Greet the user, show the menu and wait.</step>
    <menu-handlers><handlers>
      <handler type="workflow">
        Load {project-root}/bmad/core/tasks/workflow.xml, then the workflow's file, and follow both.
      </handler>
    </handlers></menu-handlers>
    <rules>${prose(name, 20)}</rules>
  </activation>
  <persona>
    <role>${titleOf(name)}</role>
    <identity>${prose(name, 4)}</identity>
    <communication_style>${prose(name, 3)}</communication_style>
    <principles>${prose(name, 6)}</principles>
  </persona>
  <menu>
${menu.join('\n')}
  </menu>
</agent>
\`\`\`
`;
}

function workflowFile(name: string): string {
  return `name: ${name}
description: Guides through ${titleOf(name)}
config_source: "{project-root}/bmad/core/config.yaml"
installed_path: "{project-root}/bmad/bmm/workflows/${name}"
instructions: "{installed_path}/instructions.md"
notes: |
  ${prose(name, 16)}
`;
}

function prose(subject: string, sentences: number): string {
  return Array.from(
    { length: sentences },
    (_, index) =>
      `Point ${index + 1} of ${subject}: ask what the user needs, write down what was decided, and go on.`,
  ).join(' ');
}
