/**
 * Paths that BMAD's own texts name and that no reader can follow, each looked up in the package of its version. What is
 * not here has to lead somewhere; what no text names any more has to go.
 */
export interface Excuse {
  /** The installs whose texts name it. */
  installs: RegExp;
  /** The path as the text writes it. */
  path: RegExp;
  why: string;
}

const EXAMPLE = 'an example in the text';
const WRITTEN = 'a file that the workflow or the team writes';
const MISSING = 'the package of this version has no such file';
const RENAMED = 'the package of this version has it under another name';
const INSIDE = 'a part of the same file, which holds an agent, its tasks, a template and a checklist';
const LEFT_OUT = 'the installer leaves out what agents are compiled from';
const OF_WORKFLOW = 'the text means the folder of its workflow, not its own';
const PLACED = 'the package of this version has it in another folder';

export const EXCUSES: readonly Excuse[] = [
  { installs: /^4\./, path: /^\.\/section-name-\d\.md$/, why: EXAMPLE },
  {
    installs: /^4\./,
    path: /^\.\/(?:another-folder\/|folder-name\/)?(?:document|another)\.md$/,
    why: EXAMPLE,
  },
  { installs: /^4\./, path: /^\.bmad-2d-unity-game-dev\/core-config\.yaml$/, why: MISSING },
  { installs: /^4\./, path: /^bmad-core\/templates\/story-tmpl\.md$/, why: MISSING },
  { installs: /^4\./, path: /^\.bmad-2d-phaser-game-dev\/templates\/game-story-tmpl\.md$/, why: MISSING },
  {
    installs: /^4\./,
    path: /^dependency \w+\/(?:generate-cover-(?:brief|prompts)|assemble-kdp-package|cover-design-brief-tmpl|kdp-cover-ready-checklist)$/,
    why: INSIDE,
  },
  { installs: /alpha\.7/, path: /\/(?:SOURCE|THIS)_MODULE\//, why: EXAMPLE },
  { installs: /alpha\.7/, path: /^\{project-root\}\/bmad\/module\/config\.yaml$/, why: EXAMPLE },
  { installs: /alpha\.7/, path: /bmad\/core\/workflows\/x\/workflow\.yaml$/, why: EXAMPLE },
  { installs: /alpha\.7/, path: /^bmad\/path\/to\/workflow\.yaml$/, why: EXAMPLE },
  { installs: /alpha\.7/, path: /^bmad\/\w+\/workflows\/brainstorm-game\/[\w-]+\.md$/, why: EXAMPLE },
  { installs: /alpha\.7/, path: /^\{installed_path\}\/template\.md$/, why: EXAMPLE },
  { installs: /alpha\.7/, path: /\/2-plan-workflows\/narrative\/workflow\.yaml$/, why: MISSING },
  { installs: /alpha\.7/, path: /^bmad\/bmm\/agents\/dev-impl\.md$/, why: MISSING },
  { installs: /alpha\.7/, path: /^\{installed_path\}\/domain-knowledge-base\.md$/, why: MISSING },
  { installs: /alpha\.7/, path: /\/testarch\/test-resources-for-ai-flat\.txt$/, why: MISSING },
  { installs: /alpha\.7/, path: /^\{installed_path\}\/checklist\.md$/, why: MISSING },
  { installs: /alpha/, path: /^_?bmad\/output\//, why: WRITTEN },
  // The guides for those who make agents, workflows and modules.
  {
    installs: /alpha\.7/,
    path: /^\{project-root\}\/bmad\/(?:_data|mmm|module|research|other-module)\/[\w./-]+$/,
    why: EXAMPLE,
  },
  {
    installs: /alpha\.7/,
    path: /^\{project-root\}\/bmad\/(?:bmm\/workflows\/prd\/workflow\.yaml|core\/tasks\/create-doc\.md|bmm\/templates\/\w+\.md)$/,
    why: EXAMPLE,
  },
  {
    installs: /alpha\.7/,
    path: /^bmad\/(?:research|module|bmm\/workflows\/(?:analyze|validate)-requirements|bmm\/templates)\/[\w./-]+$/,
    why: EXAMPLE,
  },
  {
    installs: /alpha\.7/,
    path: /^\{installed_path\}\/(?:brainstorm-context|instructions)\.md$/,
    why: EXAMPLE,
  },
  {
    installs: /alpha\.7/,
    path: /^\.{1,2}\/(?:[\w./-]*\/)?(?:README|troubleshooting|document-sharding-guide)\.md$/,
    why: MISSING,
  },
  {
    installs: /^6\.[0-8]\./,
    path: /^\.\/(?:api-contracts-server|project-overview|source-tree-analysis|deployment-guide|contribution-guide|integration-architecture|architecture-server)\.md$/,
    why: WRITTEN,
  },
  {
    installs: /alpha|Beta\.5|6\.0\.4/,
    path: /^\.\.\/document-project\/instructions\.md$/,
    why: PLACED,
  },
  { installs: /Beta\.5/, path: /^\.\/step-02-customer-insights\.md$/, why: RENAMED },
  { installs: /Beta\.5/, path: /^_bmad\/core\/tasks\/bmad-help\.md$/, why: RENAMED },
  { installs: /alpha\.22/, path: /^\{workflow_path\}\/step-\d+-[\w-]+\.md$/, why: PLACED },
  {
    installs: /alpha\.22/,
    path: /^(?:\.|\{project-root\}\/_bmad\/_memory)\/(?:[\w-]+-)?sidecar\/(?:memories|instructions)\.md$/,
    why: EXAMPLE,
  },
  { installs: /alpha\.22/, path: /^_bmad\/agents\/([\w-]+)\/\1\.md$/, why: EXAMPLE },
  {
    installs: /alpha\.22/,
    path: /bmm\/(?:workflows\/(?:create-prd|workflow-status)\/workflow|tasks\/team-standup)\.md$/,
    why: EXAMPLE,
  },
  {
    installs: /alpha\.22/,
    path: /^\.{1,2}\/data\/reference\/[\w/-]+\.agent\.yaml$/,
    why: LEFT_OUT,
  },
  { installs: /6\.1\.0/, path: /^\.\/steps\/step-\d+-[\w-]+\.md$/, why: OF_WORKFLOW },
  { installs: /6\.[235]\.0/, path: /^\.\/steps-v\/step-v-01-discovery\.md$/, why: MISSING },
  { installs: /6\.(?:5|8|12)\.0|built in/, path: /^\.\/workflow\.md$/, why: RENAMED },
  {
    installs: /alpha\.22/,
    path: /\/bmb\/workflows\/(?:brainstorm|product-brief|edit)-module\/workflow\.md$/,
    why: MISSING,
  },
  { installs: /alpha\.22/, path: /\/module-compliance-check\/workflow\.md$/, why: MISSING },
  {
    installs: /alpha\.22/,
    path: /\/(?:brainstorming|party-mode|create-tech-spec|quick-dev)\/workflow\.yaml$/,
    why: RENAMED,
  },
  { installs: /Beta\.5/, path: /^\.\/step-01-document-discovery\.md$/, why: RENAMED },
  { installs: /Beta\.5|6\.0\.4/, path: /_bmad\}?\/core\/tasks\/validate-workflow\.xml$/, why: MISSING },
  { installs: /6\.(?:8|12)\.0|built in/, path: /^\.\.\/planning-artifacts\/ux-designs\//, why: EXAMPLE },
];
