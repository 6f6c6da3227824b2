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
const DONE = 'the server does what this script does';

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
  {
    installs: /6\.8\.0|built in/,
    path: /_bmad\/custom\/(?:config(?:\.user)?|bmad-(?:create-|edit-|validate-)?prd)\.toml$/,
    why: WRITTEN,
  },
  { installs: /built in/, path: /^_bmad\/config\.user\.toml$/, why: WRITTEN },
  { installs: /built in/, path: /\/_bmad\/scripts\/resolve_customization\.py$/, why: DONE },
  { installs: /6\.(?:8|12)\.0|built in/, path: /^\.\.\/planning-artifacts\/ux-designs\//, why: EXAMPLE },
];
