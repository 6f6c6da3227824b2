import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './app.ts';
import type { Version } from './installs.ts';

/** A project as it lies on disk, and what has to be said about it. */
export interface ProgressTree {
  name: string;
  /** The install it has; none for a project without BMAD. */
  install?: Version;
  files: Readonly<Record<string, string>>;
  /** Analysis, planning, solutioning, implementation: c complete, p in progress, n not started, u unknown. */
  phases: string;
  /** The first action, and what is used for it; `-` for nothing. */
  next: readonly [what: string | RegExp, use: string];
  /** `kind about` of each disagreement, in order. */
  drift?: readonly string[];
  /** State of items by id, with the place that decided: `complete docs/prd.md:3`. */
  items?: Readonly<Record<string, string>>;
  /** Files that could not be read. */
  troubles?: readonly string[];
}

export const TEXT =
  'The shop sells plants to people who have no time for them. Every part of this paragraph is here so that there is a real text with enough letters to count as written.\n';
const FRENCH =
  'La boutique vend des plantes à celles et ceux qui n’ont pas le temps de s’en occuper. Ce paragraphe existe pour que le texte soit assez long et compte comme rédigé.\n';

const out = '_bmad-output/planning-artifacts';
const impl = '_bmad-output/implementation-artifacts';
const steps = (...done: (number | string)[]): string =>
  `---\nstepsCompleted: [${done.join(', ')}]\ninputDocuments: []\n---\n\n# Document\n\n${TEXT}`;
const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);
const status = (word: string): string => `---\ntitle: Shop\nstatus: ${word}\n---\n\n# Document\n\n${TEXT}`;
const plain = `# Document\n\n${TEXT}`;
const EPICS = `# Epics\n\n${TEXT}\n## Epic 1: Base\n\n### Story 1.1: Setup\n\n### Story 1.2: Login\n\n## Epic 2: Shop\n\n### Story 2.1: Cart\n`;
export const story = (number: string, word: string, tasks = ''): string =>
  `# Story ${number}: Title\n\nStatus: ${word}\n\n## Story\n\nAs a user, I want it.\n\n## Tasks / Subtasks\n\n${tasks}`;
const v4Story = (number: string, word: string): string =>
  `# Story ${number}: Title\n\n## Status\n\n${word}\n\n## Story\n\n**As a** user\n`;
export const ledger = (rows: Readonly<Record<string, string>>): string =>
  `# legend\ngenerated: 05-06-2025 21:30\nproject: Shop\ndevelopment_status:\n${Object.entries(rows)
    .map(([key, word]) => `  ${key}: ${word}\n`)
    .join('')}`;
const workflows = (rows: Readonly<Record<string, string>>): string =>
  `generated: "2025-11-01"\nproject: Shop\nselected_track: method\nworkflow_status:\n${Object.entries(rows)
    .map(([key, word]) => `  ${key}: ${word}\n`)
    .join('')}`;
/** A file of a real install. */
const real = (version: Version, path: string): string =>
  readFileSync(join(repository, '.cache', 'installs', version, path), 'utf8');

const planned604 = {
  [`${out}/prd.md`]: steps(...upTo(11)),
  [`${out}/architecture.md`]: steps(...upTo(8)),
  [`${out}/epics.md`]: EPICS,
};
const two = {
  'epic-1': 'in-progress',
  '1-1-setup': 'done',
  '1-2-login': 'backlog',
  'epic-1-retrospective': 'optional',
};

export const TREES: readonly ProgressTree[] = [
  // Nothing, or nothing that counts.
  { name: 'an empty folder', files: {}, phases: 'nnnn', next: ['Write a product brief', 'product-brief'] },
  {
    name: 'code and no plan',
    files: { 'package.json': '{}', 'src/index.js': '1' },
    phases: 'nnnn',
    next: ['Describe the code that is there', 'project-context'],
  },
  {
    name: 'a fresh 6.12',
    install: '6.12.0',
    files: {},
    phases: 'nnnn',
    next: ['Write a product brief', 'product-brief'],
  },
  {
    name: 'a fresh 6.0.4',
    install: '6.0.4',
    files: {},
    phases: 'nnnn',
    next: ['Write a product brief', 'create-product-brief'],
  },
  {
    name: 'a fresh alpha.7 begins with its own list',
    install: '6.0.0-alpha.7',
    files: {},
    phases: 'nnnn',
    next: [/^Choose a track/, 'workflow-init'],
  },
  {
    name: 'a fresh v4',
    install: '4.44.3',
    files: {},
    phases: 'nnnn',
    next: ['Write a product brief', 'analyst *create-project-brief'],
  },
  {
    name: 'an empty PRD proves nothing',
    install: '6.0.4',
    files: { [`${out}/prd.md`]: '' },
    phases: 'nnnn',
    next: ['Write a product brief', 'create-product-brief'],
    items: { prd: `not started ${out}/prd.md` },
  },
  {
    name: 'the real PRD template of 6.0.4, not filled in',
    install: '6.0.4',
    files: {
      [`${out}/prd.md`]: real(
        '6.0.4',
        '_bmad/bmm/workflows/2-plan-workflows/create-prd/templates/prd-template.md',
      ),
    },
    phases: 'nnnn',
    next: ['Write a product brief', 'create-product-brief'],
    items: { prd: `not started ${out}/prd.md:7` },
  },
  {
    name: 'the real epics template of 6.12, not filled in',
    install: '6.12.0',
    files: {
      [`${out}/prds/prd-shop-2026-01-02/prd.md`]: status('final'),
      [`${out}/epics.md`]: real(
        '6.12.0',
        '.claude/skills/bmad-create-epics-and-stories/templates/epics-template.md',
      ),
    },
    phases: 'ncnn',
    next: ['Write the architecture', 'architecture'],
    items: { epics: `not started ${out}/epics.md:6` },
  },
  // Documents with steps.
  {
    name: 'a brief that is half done',
    install: '6.0.4',
    files: { [`${out}/product-brief-shop-2026-01-01.md`]: steps(1, 2, 3) },
    phases: 'pnnn',
    next: ['Finish the product brief', 'create-product-brief'],
    items: { brief: `in progress ${out}/product-brief-shop-2026-01-01.md:2` },
  },
  {
    name: 'a brief with all its steps',
    install: '6.0.4',
    files: { [`${out}/product-brief-shop-2026-01-01.md`]: steps(...upTo(5)) },
    phases: 'cnnn',
    next: ['Write the PRD', 'create-prd'],
  },
  {
    name: 'a PRD by the names of steps, up to the last but two',
    install: '6.5.0',
    files: { [`${out}/prd.md`]: steps("'step-01-init'", "'step-10-nonfunctional'") },
    phases: 'npnn',
    next: ['Finish the PRD', 'create-prd'],
    items: { prd: `in progress ${out}/prd.md:2` },
  },
  {
    name: 'a PRD by the names of steps, complete',
    install: '6.5.0',
    files: { [`${out}/prd.md`]: steps("'step-01-init'", "'step-12-complete'") },
    phases: 'ncnn',
    next: ['Write the architecture', 'create-architecture'],
  },
  {
    name: 'an architecture with a status beats its steps',
    install: '6.0.4',
    files: {
      [`${out}/prd.md`]: steps(...upTo(11)),
      [`${out}/architecture.md`]: `---\nstepsCompleted: [1, 2]\nstatus: 'complete'\n---\n\n# A\n\n${TEXT}`,
    },
    phases: 'ncpn',
    next: ['Write the epics and stories', 'create-epics-and-stories'],
    items: { architecture: `complete ${out}/architecture.md:3` },
  },
  {
    name: 'a placeholder in a document that calls itself complete',
    install: '6.0.4',
    files: { [`${out}/prd.md`]: `---\nstatus: complete\n---\n\n# PRD\n\n${TEXT}\n{{fr_list}}\n` },
    phases: 'npnn',
    next: ['Finish the PRD', 'create-prd'],
    items: { prd: `in progress ${out}/prd.md:9` },
  },
  {
    name: 'placeholders in code are none',
    install: '6.0.4',
    files: { [`${out}/prd.md`]: `# PRD\n\n${TEXT}\nUse \`{{name}}\`.\n\n\`\`\`\n{{other}}\n\`\`\`\n` },
    phases: 'ncnn',
    next: ['Write the architecture', 'create-architecture'],
  },
  {
    name: 'front matter that is broken',
    install: '6.0.4',
    files: { [`${out}/prd.md`]: `---\ntitle: [a\nstatus: x\n---\n\n${TEXT}` },
    phases: 'nunn',
    next: ['Look at the PRD', 'create-prd'],
    items: { prd: `unknown ${out}/prd.md:3` },
  },
  {
    name: 'epics of which one has no stories',
    install: '6.0.4',
    files: { ...planned604, [`${out}/epics.md`]: `${EPICS}\n## Epic 3: Later\n` },
    phases: 'ncpn',
    next: ['Finish the epics and stories', 'create-epics-and-stories'],
    items: { epics: `in progress ${out}/epics.md:15` },
  },
  {
    name: 'a complete plan asks for the readiness check where the version has one',
    install: '6.0.4',
    files: planned604,
    phases: 'nccn',
    next: ['Run the readiness check', 'check-implementation-readiness'],
  },
  {
    name: 'a readiness report that says no',
    install: '6.0.4',
    files: {
      ...planned604,
      [`${out}/implementation-readiness-report-2026-01-03.md`]: `# Report\n\n${TEXT}\n### Overall Readiness Status\n\n**NOT READY**\n`,
    },
    phases: 'ncpn',
    next: ['Repeat the readiness check', 'check-implementation-readiness'],
    items: { readiness: `in progress ${out}/implementation-readiness-report-2026-01-03.md:7` },
  },
  {
    name: 'a readiness report that says yes',
    install: '6.0.4',
    files: {
      ...planned604,
      [`${out}/implementation-readiness-report-2026-01-03.md`]: `# Report\n\n${TEXT}\n### Overall Readiness Status\n\nREADY\n`,
    },
    phases: 'nccn',
    next: ['Plan the sprint', 'sprint-planning'],
  },
  // Run folders of the newer versions.
  {
    name: '6.12: a draft PRD in its run folder',
    install: '6.12.0',
    files: { [`${out}/prds/prd-shop-2026-01-02/prd.md`]: status('draft') },
    phases: 'npnn',
    next: ['Finish the PRD', 'prd'],
    items: { prd: `in progress ${out}/prds/prd-shop-2026-01-02/prd.md:3` },
  },
  {
    name: '6.12: a final PRD and a newer draft',
    install: '6.12.0',
    files: {
      [`${out}/prds/prd-shop-2026-01-02/prd.md`]: status('final'),
      [`${out}/prds/prd-shop-2026-03-02/prd.md`]: status('draft'),
    },
    phases: 'npnn',
    next: ['Finish the PRD', 'prd'],
    items: {
      prd: `complete ${out}/prds/prd-shop-2026-01-02/prd.md:3`,
      [`${out}/prds/prd-shop-2026-03-02`]: `in progress ${out}/prds/prd-shop-2026-03-02/prd.md:3`,
    },
  },
  {
    name: '6.12: the two files of UX are one',
    install: '6.12.0',
    files: {
      [`${out}/prds/prd-shop-2026-01-02/prd.md`]: status('final'),
      [`${out}/ux-designs/ux-shop-2026-01-02/DESIGN.md`]: status('final'),
      [`${out}/ux-designs/ux-shop-2026-01-02/EXPERIENCE.md`]: status('draft'),
    },
    phases: 'npnn',
    next: ['Finish the UX design', 'ux'],
  },
  {
    name: '6.12: plan complete, no readiness workflow any more',
    install: '6.12.0',
    files: {
      [`${out}/prds/prd-shop-2026-01-02/prd.md`]: status('final'),
      [`${out}/architecture/architecture-shop-2026-01-03/ARCHITECTURE-SPINE.md`]: status('final'),
      [`${out}/epics.md`]: EPICS,
    },
    phases: 'nccn',
    next: ['Plan the sprint', 'sprint-planning'],
  },
  {
    name: '6.12: the real spine template is a draft at most',
    install: '6.12.0',
    files: {
      [`${out}/prds/prd-shop-2026-01-02/prd.md`]: status('final'),
      [`${out}/architecture/architecture-shop-2026-01-03/ARCHITECTURE-SPINE.md`]: real(
        '6.12.0',
        '.claude/skills/bmad-architecture/assets/spine-template.md',
      ),
    },
    phases: 'ncpn',
    next: ['Finish the architecture', 'architecture'],
  },
  // Stories and the sprint.
  {
    name: 'a story in progress comes first',
    install: '6.0.4',
    files: {
      ...planned604,
      [`${impl}/sprint-status.yaml`]: ledger({
        'epic-1': 'in-progress',
        '1-1-setup': 'review',
        '1-2-login': 'in-progress',
        '1-3-x': 'ready-for-dev',
      }),
      [`${impl}/1-2-login.md`]: story('1.2', 'in-progress', '- [x] one\n- [ ] two\n'),
      [`${impl}/1-1-setup.md`]: story('1.1', 'review'),
      [`${impl}/1-3-x.md`]: story('1.3', 'ready-for-dev'),
    },
    phases: 'nccp',
    next: ['Go on with story 1-2-login', 'dev-story'],
    items: { '1-2-login': `in progress ${impl}/sprint-status.yaml:7` },
  },
  {
    name: 'then a story in review',
    install: '6.0.4',
    files: {
      ...planned604,
      [`${impl}/sprint-status.yaml`]: ledger({
        'epic-1': 'in-progress',
        '1-1-setup': 'review',
        '1-2-login': 'ready-for-dev',
      }),
    },
    phases: 'nccp',
    next: ['Review story 1-1-setup', 'code-review'],
  },
  {
    name: 'then one that is ready',
    install: '6.0.4',
    files: {
      ...planned604,
      [`${impl}/sprint-status.yaml`]: ledger({
        'epic-1': 'in-progress',
        '1-1-setup': 'done',
        '1-2-login': 'ready-for-dev',
      }),
    },
    phases: 'nccp',
    next: ['Build story 1-2-login', 'dev-story'],
  },
  {
    name: 'then the first of the backlog',
    install: '6.0.4',
    files: { ...planned604, [`${impl}/sprint-status.yaml`]: ledger(two) },
    phases: 'nccp',
    next: ['Prepare story 1-2-login', 'create-story'],
  },
  {
    name: '6.12 has no create-story: build prepares too',
    install: '6.12.0',
    files: { [`${impl}/sprint-status.yaml`]: ledger(two) },
    phases: 'nnnp',
    next: ['Prepare story 1-2-login', 'build'],
  },
  {
    name: 'all stories done, the retrospective is open',
    install: '6.0.4',
    files: {
      [`${impl}/sprint-status.yaml`]: ledger({
        'epic-1': 'done',
        '1-1-setup': 'done',
        'epic-1-retrospective': 'optional',
      }),
    },
    phases: 'nnnc',
    next: ['Hold the retrospective of epic 1', 'retrospective'],
  },
  {
    name: 'everything done',
    install: '6.0.4',
    files: {
      ...planned604,
      [`${out}/epics.md`]: '# E\n\n## Epic 1: Base\n\n### Story 1.1: Setup\n\n' + TEXT,
      [`${out}/implementation-readiness-report-2026-01-03.md`]: plain,
      [`${impl}/sprint-status.yaml`]: ledger({
        'epic-1': 'done',
        '1-1-setup': 'done',
        'epic-1-retrospective': 'done',
      }),
    },
    phases: 'nccc',
    next: ['-', '-'],
  },
  {
    name: 'the real ledger template of alpha.7: a draft waits for its context',
    install: '6.0.0-alpha.7',
    files: {
      'docs/sprint-status.yaml': real(
        '6.0.0-alpha.7',
        'bmad/bmm/workflows/4-implementation/sprint-planning/sprint-status-template.yaml',
      ),
      'docs/stories/1-2-account-management.md': story('1.2', 'drafted'),
    },
    phases: 'nnnp',
    next: ['Check and approve story 1-2-account-management', 'bmm/story-context'],
    drift: ['no file 1-1-user-authentication'],
    items: {
      '1-1-user-authentication': 'complete docs/sprint-status.yaml:45',
      'epic-2': 'not started docs/sprint-status.yaml:51',
    },
  },
  {
    name: 'alpha.7 wants the context of an epic first',
    install: '6.0.0-alpha.7',
    files: {
      'docs/sprint-status.yaml': `# contexted, drafted\n${ledger({ 'epic-1': 'backlog', '1-1-setup': 'backlog' })}`,
    },
    phases: 'nnnn',
    next: ['Write the technical context of epic 1', 'bmm/epic-tech-context'],
  },
  {
    name: 'the real ledger template of 6.12',
    install: '6.12.0',
    files: {
      [`${impl}/sprint-status.yaml`]: real(
        '6.12.0',
        '.claude/skills/bmad-sprint-planning/sprint-status-template.yaml',
      ),
    },
    phases: 'nnnp',
    next: ['Bring the ledgers up to date', '-'],
    drift: ['ledger behind epic-1'],
  },
  {
    name: 'a spec of quick work that is in review',
    install: '6.12.0',
    files: {
      [`${impl}/spec-fix-login.md`]: `---\ntitle: 'Fix'\nstatus: 'in-review' # draft | done\n---\n\n## Intent\n\n${TEXT}`,
    },
    phases: 'nnnp',
    next: ['Go on with spec-fix-login', 'code-review'],
    items: { 'spec-fix-login': `in progress ${impl}/spec-fix-login.md:3` },
  },
  {
    name: 'the real spec template is a draft',
    install: '6.12.0',
    files: { [`${impl}/spec-new.md`]: real('6.12.0', '.claude/skills/bmad-build/spec-template.md') },
    phases: 'nnnp',
    next: ['Build spec-new', 'build'],
  },
  // Disagreements.
  {
    name: 'the file says done, the ledger in progress',
    install: '6.0.4',
    files: {
      [`${impl}/sprint-status.yaml`]: ledger({
        'epic-1': 'in-progress',
        '1-1-setup': 'in-progress',
        '1-2-login': 'backlog',
      }),
      [`${impl}/1-1-setup.md`]: story('1.1', 'done'),
    },
    phases: 'nnnp',
    next: ['Bring the ledgers up to date', '-'],
    drift: ['status differs 1-1-setup'],
  },
  {
    name: 'the ledger says done, the file in progress: nothing is raised by it',
    install: '6.0.4',
    files: {
      [`${impl}/sprint-status.yaml`]: ledger(two),
      [`${impl}/1-1-setup.md`]: story('1.1', 'in-progress'),
    },
    phases: 'nnnp',
    next: ['Prepare story 1-2-login', 'create-story'],
    drift: ['status differs 1-1-setup'],
  },
  {
    name: 'an epic that is done with open stories',
    install: '6.0.4',
    files: { [`${impl}/sprint-status.yaml`]: ledger({ ...two, 'epic-1': 'done' }) },
    phases: 'nnnp',
    next: ['Prepare story 1-2-login', 'create-story'],
    drift: ['epic done, stories open epic-1'],
    items: { 'epic-1': `in progress ${impl}/sprint-status.yaml:5` },
  },
  {
    name: 'rows without files, files without rows',
    install: '6.0.4',
    files: {
      [`${impl}/sprint-status.yaml`]: ledger({ ...two, '1-2-login': 'in-progress' }),
      [`${impl}/1-1-setup.md`]: story('1.1', 'done'),
      [`${impl}/1-7-more.md`]: story('1.7', 'ready-for-dev'),
    },
    phases: 'nnnp',
    next: ['Bring the ledgers up to date', '-'],
    drift: ['no file 1-2-login', 'no ledger row 1-7-more'],
  },
  {
    name: 'words that are no status',
    install: '6.0.4',
    files: {
      [`${impl}/sprint-status.yaml`]: ledger({
        'epic-1': 'in-progress',
        '1-1-setup': 'Done',
        '1-2-login': 'shipped',
        '1-3-x': '',
      }),
    },
    phases: 'nnnp',
    next: ['Bring the ledgers up to date', '-'],
    drift: ['invalid status 1-1-setup', 'invalid status 1-2-login', 'invalid status 1-3-x'],
    items: { '1-2-login': `unknown ${impl}/sprint-status.yaml:7` },
  },
  {
    name: 'keys that come twice, and keys of another kind',
    install: '6.0.4',
    files: { [`${impl}/sprint-status.yaml`]: `${ledger(two)}  1-1-setup: backlog\n  notes: later\n` },
    phases: 'nnnp',
    next: ['Prepare story 1-2-login', 'create-story'],
    drift: ['duplicate key 1-1-setup', 'unknown key notes'],
  },
  {
    name: 'a story of an epic without a row',
    install: '6.0.4',
    files: { [`${impl}/sprint-status.yaml`]: ledger({ ...two, '2-1-cart': 'backlog' }) },
    phases: 'nnnp',
    next: ['Prepare story 1-2-login', 'create-story'],
    drift: ['no epic row epic-2'],
  },
  {
    name: 'a ledger that is no YAML',
    install: '6.0.4',
    files: {
      [`${impl}/sprint-status.yaml`]:
        'project: Shop\ndevelopment_status:\n  epic-1: [in-progress\n  1-1-setup: done\n',
    },
    phases: 'nnnu',
    next: [`Repair ${impl}/sprint-status.yaml:4`, 'sprint-planning'],
    drift: [`broken ledger ${impl}/sprint-status.yaml`],
  },
  {
    name: 'a ledger of 0 bytes',
    install: '6.12.0',
    files: { [`${impl}/sprint-status.yaml`]: '' },
    phases: 'nnnu',
    next: [`Repair ${impl}/sprint-status.yaml`, 'sprint-planning'],
    drift: [`broken ledger ${impl}/sprint-status.yaml`],
  },
  {
    name: 'two ledgers',
    install: '6.0.4',
    files: { [`${impl}/sprint-status.yaml`]: ledger(two), '_bmad-output/sprint-status.yaml': ledger(two) },
    phases: 'nnnp',
    next: ['Prepare story 1-2-login', 'create-story'],
    drift: ['second ledger _bmad-output/sprint-status.yaml'],
  },
  // The list of workflows of the alphas.
  {
    name: 'alpha.22: the list is followed',
    install: '6.0.0-alpha.22',
    files: {
      [`${out}/bmm-workflow-status.yaml`]: workflows({
        'product-brief': 'skipped',
        prd: `${out}/prd.md`,
        'create-ux-design': 'conditional',
        'create-architecture': 'required',
        'create-epics-and-stories': 'required',
      }),
      [`${out}/prd.md`]: steps(...upTo(11)),
    },
    phases: 'ncnn',
    next: ['Write the architecture', 'create-architecture'],
    items: { brief: `skipped ${out}/bmm-workflow-status.yaml:5` },
  },
  {
    name: 'alpha.22: the list is behind the files',
    install: '6.0.0-alpha.22',
    files: {
      [`${out}/bmm-workflow-status.yaml`]: workflows({ prd: 'required', 'create-architecture': 'required' }),
      [`${out}/prd.md`]: steps(...upTo(11)),
    },
    phases: 'ncnn',
    next: ['Bring the ledgers up to date', '-'],
    drift: ['ledger behind prd'],
  },
  {
    name: 'alpha.22: the list names a file that is not there',
    install: '6.0.0-alpha.22',
    files: {
      [`${out}/bmm-workflow-status.yaml`]: workflows({
        prd: `${out}/prd.md`,
        'create-architecture': 'required',
      }),
    },
    phases: 'nnnn',
    next: [/^Choose a track/, 'bmm/workflow-init'],
    drift: ['ledger ahead prd'],
  },
  {
    name: 'alpha.7: a list of entries, epics before the architecture',
    install: '6.0.0-alpha.7',
    files: {
      'docs/bmm-workflow-status.yaml': `project: Shop\nworkflow_status:\n  - id: prd\n    status: docs/PRD.md\n    agent: pm\n  - id: create-architecture\n    status: required\n`,
      'docs/PRD.md': plain,
    },
    phases: 'ncnn',
    next: ['Write the epics and stories', 'create-epics-and-stories'],
  },
  {
    name: 'the real template of the list, not filled in',
    install: '6.0.0-alpha.7',
    files: {
      'docs/bmm-workflow-status.yaml': real(
        '6.0.0-alpha.7',
        'bmad/bmm/workflows/workflow-status/workflow-status-template.yaml',
      ),
    },
    phases: 'nnnn',
    next: ['Repair docs/bmm-workflow-status.yaml:31', '-'],
    drift: ['broken ledger docs/bmm-workflow-status.yaml'],
  },
  {
    name: 'the list in Markdown claims a phase',
    install: '6.0.0-alpha.7',
    files: { 'docs/bmm-workflow-status.md': '# Status\n\nPHASE_1_COMPLETE: false\nPHASE_2_COMPLETE: true\n' },
    phases: 'nnnn',
    next: [/^Choose a track/, 'workflow-init'],
    drift: ['ledger ahead planning'],
  },
  {
    name: 'alpha.7: a tech spec is a plan of its own',
    install: '6.0.0-alpha.7',
    files: { 'docs/tech-spec.md': plain },
    phases: 'ncnn',
    next: ['Plan the sprint', 'bmm/sprint-planning'],
  },
  // Version 4.
  {
    name: 'v4: a PRD and no architecture',
    install: '4.44.3',
    files: { 'docs/prd.md': `${plain}\n## Epic 1 Base\n\n### Story 1.1 Setup\n` },
    phases: 'ncpn',
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
    next: ['Make the shards of the PRD', 'pm *shard-prd'],
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
    next: ['Work on the findings of story 1.1', 'dev *review-qa'],
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
    next: ['Go on with story 2.1', 'dev *develop-story'],
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
    next: ['Prepare story 1-2-login', 'build'],
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
    next: ['Write a product brief', 'create-product-brief'],
    troubles: ['../elsewhere'],
  },
  {
    name: 'French: statut, récits, accents',
    install: '6.0.4',
    files: {
      [`${out}/prd.md`]: `---\nstatus: terminé\n---\n\n# Document d’exigences\n\n${FRENCH}`,
      [`${out}/architecture.md`]: `# Architecture\n\n**Statut :** Brouillon\n\n${FRENCH}`,
      [`${out}/epics.md`]: `# Épopées\n\n${FRENCH}\n## Épopée 1 : Socle\n\n### Récit 1.1 : Démarrage\n`,
      [`${impl}/1-1-demarrage.md`]: `# Story 1.1 : Démarrage\n\nStatut : ready-for-dev\n\n## Récit\n\nEn tant que…\n\n## Tâches / Sous-tâches\n\n- [x] une\n- [ ] deux\n`,
    },
    phases: 'ncpp',
    next: ['Build story 1-1-demarrage', 'dev-story'],
    items: {
      architecture: `in progress ${out}/architecture.md:3`,
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
    next: ['Go on with story 1-2-login', 'dev-story'],
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
    next: ['Go on with story 1-1-setup', 'build'],
  },
  {
    name: 'an open action item does not hide the next story',
    install: '6.12.0',
    files: {
      [`${impl}/sprint-status.yaml`]: `${ledger(two)}action_items:\n  - epic: 1\n    action: "Write tests"\n    owner: "Charlie"\n    status: open\n`,
    },
    phases: 'nnnp',
    next: ['Prepare story 1-2-login', 'build'],
  },
];
