import { real } from './installed.ts';
import {
  TEXT,
  FRENCH,
  out,
  impl,
  steps,
  upTo,
  status,
  plain,
  story,
  v4Story,
  ledger,
  two,
  type ProgressTree,
} from './pieces.ts';

export const PLACE_TREES: readonly ProgressTree[] = [
  // Version 4.
  {
    name: 'v4: a PRD and no architecture',
    install: '4.44.3',
    files: { 'docs/prd.md': `${plain}\n## Epic 1 Base\n\n### Story 1.1 Setup\n` },
    phases: 'ncnn',
    next: ['Write the architecture', 'architect *create-full-stack-architecture'],
    items: { epics: 'complete docs/prd.md:5', prd: 'complete docs/prd.md:3' },
  },
  {
    name: 'v4: plan complete, in one file',
    install: '4.44.3',
    files: {
      'docs/prd.md': `${plain}\n## Epic 1 Base\n\n### Story 1.1 Setup\n`,
      'docs/architecture.md': plain,
    },
    phases: 'nccn',
    next: ['Shard the PRD', 'pm *shard-prd'],
  },
  {
    name: 'v4: plan complete, in shards',
    install: '4.44.3',
    files: {
      'docs/prd/index.md': plain,
      'docs/prd/epic-1-base.md': `# Epic 1 Base\n\n${TEXT}\n## Story 1.1 Setup\n`,
      'docs/architecture/index.md': plain,
      'docs/architecture/tech-stack.md': plain,
    },
    phases: 'nccn',
    next: ['Draft the first story', 'sm *draft'],
  },
  {
    name: 'v4: a draft waits for approval',
    install: '4.44.3',
    files: { 'docs/stories/1.1.setup.md': v4Story('1.1', 'Draft') },
    phases: 'nnnp',
    next: ['Check and approve story 1.1', 'po *validate-story-draft'],
    items: { '1.1': 'in progress docs/stories/1.1.setup.md:5' },
  },
  {
    name: 'v4: an approved story',
    install: '4.44.3',
    files: {
      'docs/stories/1.1.setup.md': v4Story('1.1', 'Done'),
      'docs/stories/1.2.login.md': v4Story('1.2', 'Approved'),
    },
    phases: 'nnnp',
    next: ['Build story 1.2', 'dev *develop-story'],
  },
  {
    name: 'v4: a story for review, without and with a gate',
    install: '4.44.3',
    files: { 'docs/stories/1.1.setup.md': v4Story('1.1', 'Ready for Review') },
    phases: 'nnnp',
    next: ['Review story 1.1', 'qa *review'],
  },
  {
    name: 'v4: a gate that did not pass',
    install: '4.44.3',
    files: {
      'docs/stories/1.1.setup.md': v4Story('1.1', 'Review'),
      'docs/qa/gates/1.1-setup.yml': 'schema: 1\ngate: FAIL\n',
    },
    phases: 'nnnp',
    next: ['Address the review findings for story 1.1', 'dev *review-qa'],
  },
  {
    name: 'v4: configured places',
    install: '4.44.3',
    files: {
      '.bmad-core/core-config.yaml':
        'prd:\n  prdFile: spec/product.md\n  prdSharded: false\narchitecture:\n  architectureFile: spec/tech.md\ndevStoryLocation: work\n',
      'spec/product.md': plain,
      'work/2.1.cart.md': v4Story('2.1', 'InProgress'),
    },
    phases: 'ncnp',
    next: ['Continue story 2.1', 'dev *develop-story'],
    items: { prd: 'complete spec/product.md:3' },
  },
  // Places, languages and forms.
  {
    name: 'artefacts in a folder of their own',
    install: '6.12.0',
    files: {
      '_bmad/custom/config.toml':
        '[modules.bmm]\nplanning_artifacts = "{project-root}/plans"\nimplementation_artifacts = "work"\n',
      'plans/prds/prd-x-2026-01-01/prd.md': status('final'),
      'work/sprint-status.yaml': ledger(two),
    },
    phases: 'ncnp',
    next: ['Build story 1-2-login', 'build'],
    items: { prd: 'complete plans/prds/prd-x-2026-01-01/prd.md:3' },
  },
  {
    name: 'a folder with the literal name of the setting',
    install: '6.0.4',
    files: {
      '_bmad/bmm/config.yaml': 'planning_artifacts: "{project-root}/{output_folder}/planning-artifacts"\n',
      '{output_folder}/planning-artifacts/prd.md': steps(...upTo(11)),
    },
    phases: 'ncnn',
    next: ['Write the architecture', 'create-architecture'],
  },
  {
    name: 'a place outside the project is not read',
    install: '6.0.4',
    files: { '_bmad/bmm/config.yaml': 'planning_artifacts: ../elsewhere\n' },
    phases: 'nnnn',
    next: ['-', '-'],
    troubles: ['../elsewhere'],
  },
  {
    name: 'French: statut, récits, accents',
    install: '6.0.4',
    files: {
      [`${out}/prd.md`]: `---\nstatus: complete\n---\n\n# Document d’exigences\n\n${FRENCH}`,
      [`${out}/architecture.md`]: `---\nstatus: draft\n---\n\n# Architecture\n\n${FRENCH}`,
      [`${out}/epics.md`]: `# Épopées\n\n${FRENCH}\n## Épopée 1 : Socle\n\n### Récit 1.1 : Démarrage\n`,
      [`${impl}/1-1-demarrage.md`]: `# Story 1.1 : Démarrage\n\nStatut : ready-for-dev\n\n## Récit\n\nEn tant que…\n\n## Tâches / Sous-tâches\n\n- [x] une\n- [ ] deux\n`,
    },
    phases: 'ncpp',
    next: ['Build story 1-1-demarrage', 'dev-story'],
    items: {
      architecture: `in progress ${out}/architecture.md:2`,
      epics: `complete ${out}/epics.md:3`,
      '1-1-demarrage': `in progress ${impl}/1-1-demarrage.md:3`,
    },
  },
  {
    name: 'CRLF and a byte order mark everywhere',
    install: '6.0.4',
    files: Object.fromEntries(
      Object.entries({
        [`${out}/prd.md`]: steps(...upTo(11)),
        [`${impl}/sprint-status.yaml`]: ledger({ ...two, '1-2-login': 'in-progress' }),
        [`${impl}/1-2-login.md`]: story('1.2', 'in-progress', '- [ ] a\n'),
      }).map(([path, text]) => [path, `\uFEFF${text.replaceAll('\n', '\r\n')}`]),
    ),
    phases: 'ncnp',
    next: ['Continue story 1-2-login', 'dev-story'],
    drift: ['no file 1-1-setup'],
    items: { prd: `complete ${out}/prd.md:2`, '1-2-login': `in progress ${impl}/sprint-status.yaml:7` },
  },
  {
    name: 'the real story template of 6.0.4, not filled in',
    install: '6.0.4',
    files: {
      [`${impl}/sprint-status.yaml`]: ledger(two),
      [`${impl}/1-2-login.md`]: real(
        '6.0.4',
        '_bmad/bmm/workflows/4-implementation/create-story/template.md',
      ),
    },
    phases: 'nnnp',
    next: ['Prepare story 1-2-login', 'create-story'],
  },
  {
    name: 'a review that is named after its story is no story',
    install: '6.0.4',
    files: {
      [`${impl}/sprint-status.yaml`]: ledger(two),
      [`${impl}/1-1-code-review-2026-01-01.md`]: `# Code review\n\n${TEXT}`,
    },
    phases: 'nnnp',
    next: ['Prepare story 1-2-login', 'create-story'],
  },
  {
    name: 'a project of the kit keeps stories for its team',
    files: {
      '_grimoire/_memory/config.yaml': 'output_folder: "{project-root}/_grimoire-output"\n',
      '_grimoire-output/team-build/stories/1-1-setup.md': story('1.1', 'in-progress'),
    },
    phases: 'nnnp',
    next: ['Continue story 1-1-setup', 'build'],
  },
  {
    name: 'an open action item does not hide the next story',
    install: '6.12.0',
    files: {
      [`${impl}/sprint-status.yaml`]: `${ledger(two)}action_items:\n  - epic: 1\n    action: "Write tests"\n    owner: "Charlie"\n    status: open\n`,
    },
    phases: 'nnnp',
    next: ['Build story 1-2-login', 'build'],
  },
];
