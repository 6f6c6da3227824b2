import { NOTHING, TEXT, plain, type ProgressTree } from './pieces.ts';

const EPIC = '\n## Epic 1 Base\n\n### Story 1.1 Setup\n';
const prd = { 'docs/prd.md': `${plain}${EPIC}` };
const shards = {
  'docs/prd/index.md': plain,
  'docs/prd/epic-1-base.md': `# Epic 1 Base\n\n${TEXT}\n## Story 1.1 Setup\n`,
};
const whole = { 'docs/architecture.md': plain };
const SHARD_PRD = 'Shard the PRD → pm *shard-prd';
const SHARD_ARCHITECTURE = 'Shard the architecture → po *shard-doc';
const UX = 'Write the UX design (optional) → ux-expert *create-front-end-spec';
const FULL = 'Write the architecture → architect *create-full-stack-architecture';
const WAYS = [
  'Build it right away → pm *create-story',
  'Write a PRD → pm *create-prd',
  'Write a product brief → analyst *create-project-brief',
  'Brainstorm → analyst *brainstorm',
];
const CHECKLIST = "Run the product owner's master checklist (optional) → po *execute-checklist-po";
const SHARDS: ProgressTree['next'] = ['Shard the PRD', 'pm *shard-prd'];
const unsharded = (kind: string): string =>
  `prd:\n  prdFile: docs/prd.md\n  prdSharded: ${kind !== 'prd'}\n  prdShardedLocation: docs/prd\narchitecture:\n  architectureFile: docs/architecture.md\n  architectureSharded: ${kind !== 'architecture'}\n  architectureShardedLocation: docs/architecture\ndevStoryLocation: docs/stories\n`;

/** From nothing to the first story of version 4. */
export const VERSION_4_TREES: readonly ProgressTree[] = [
  {
    name: 'v4: nothing yet, and its workflows are the frame',
    install: '4.44.3',
    files: {},
    phases: 'nnnn',
    next: NOTHING,
    ways: [...WAYS, 'Follow the workflow greenfield-fullstack → greenfield-fullstack'],
  },
  {
    name: 'v4: code and no plan, and its workflows are the frame',
    install: '4.44.3',
    files: { 'package.json': '{}\n', 'src/index.js': '1\n' },
    phases: 'nnnn',
    next: NOTHING,
    ways: [
      ...WAYS,
      'Document the existing code → architect *document-project',
      'Follow the workflow brownfield-fullstack → brownfield-fullstack',
    ],
  },
  {
    name: 'v4: a PRD leads to the architecture',
    install: '4.44.3',
    files: prd,
    phases: 'ncnn',
    next: ['Write the architecture', 'architect *create-full-stack-architecture'],
    all: [FULL, UX],
  },
  {
    name: 'v4: a PRD by its own template is finished (J-O3)',
    install: '4.44.3',
    files: {
      'docs/prd.md': `${plain}\n## User Interface Design Goals\n\n### Overall UX Vision\n\n### Key Interaction Paradigms\n\n### Accessibility: WCAG AA\n\n## Technical Assumptions\n\n### Repository Structure: Monorepo\n\n### Service Architecture\n\n${TEXT}${EPIC}`,
    },
    phases: 'ncnn',
    next: ['Write the architecture', 'architect *create-full-stack-architecture'],
    items: { prd: 'complete docs/prd.md:3' },
  },
  {
    name: 'v4: a PRD without epics is not finished',
    install: '4.44.3',
    files: { 'docs/prd.md': plain },
    phases: 'npnn',
    next: ['Finish the PRD', 'pm *create-prd'],
  },
  {
    name: 'v4: a PRD with numbered headings plans its epics',
    install: '4.44.3',
    files: {
      'docs/prd.md': `${plain}\n## 5. Epics\n\n### 5.1 Epic 1: Base\n\n#### 5.1.1 Story 1.1: Setup\n\n#### 5.1.2 Story 1.2: Cart\n`,
    },
    phases: 'ncnn',
    next: ['Write the architecture', 'architect *create-full-stack-architecture'],
    items: { epics: 'complete docs/prd.md:7' },
  },
  {
    name: 'v4: a PRD for code that is there already',
    install: '4.44.3',
    files: {
      'docs/prd.md': `${plain}\n## User Interface Design Goals\n\n${TEXT}${EPIC}`,
      'src/index.js': '1\n',
    },
    phases: 'ncnn',
    next: ['Write the architecture', 'architect *create-full-stack-architecture'],
    all: [FULL, UX],
  },
  {
    name: 'v4: both documents are to be sharded before the first story',
    install: '4.44.3',
    files: { ...prd, ...whole },
    phases: 'nccn',
    next: SHARDS,
    all: [SHARD_PRD, SHARD_ARCHITECTURE, CHECKLIST],
  },
  {
    name: 'v4: the architecture alone is left to be sharded',
    install: '4.44.3',
    files: { ...shards, ...prd, ...whole },
    phases: 'nccn',
    next: ['Shard the architecture', 'po *shard-doc'],
    all: [SHARD_ARCHITECTURE],
  },
  {
    name: 'v4: settings that want the architecture whole',
    install: '4.44.3',
    files: { ...prd, ...whole, '.bmad-core/core-config.yaml': unsharded('architecture') },
    phases: 'nccn',
    next: SHARDS,
    all: [SHARD_PRD, CHECKLIST],
  },
  {
    name: 'v4: settings that want the PRD whole',
    install: '4.44.3',
    files: {
      ...prd,
      'docs/architecture/index.md': plain,
      '.bmad-core/core-config.yaml': unsharded('prd'),
    },
    phases: 'nccn',
    next: ['Draft the first story', 'sm *draft'],
    all: ['Draft the first story → sm *draft'],
  },
];
