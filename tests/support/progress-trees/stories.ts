import { real } from './installed.ts';
import { TEXT, out, impl, plain, story, ledger, planned604, two, type ProgressTree } from './pieces.ts';

export const STORY_TREES: readonly ProgressTree[] = [
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
    next: ['Continue story 1-2-login', 'dev-story'],
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
    next: ['Build story 1-2-login', 'build'],
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
    next: ['Hold the retrospective for epic 1', 'retrospective'],
    all: ['Hold the retrospective for epic 1 (optional) → retrospective by sm'],
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
    next: ['Check and approve story 1-2-account-management', 'story-context'],
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
    next: ['Write the technical context of epic 1', 'epic-tech-context'],
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
    name: 'a spec of quick work that its build is reviewing',
    install: '6.12.0',
    files: {
      [`${impl}/spec-fix-login.md`]: `---\ntitle: 'Fix'\nstatus: 'in-review' # draft | done\n---\n\n## Intent\n\n${TEXT}`,
    },
    phases: 'nnnp',
    next: ['Continue spec-fix-login', 'build'],
    items: { 'spec-fix-login': `in progress ${impl}/spec-fix-login.md:3` },
  },
  {
    name: 'the real spec template is a draft',
    install: '6.12.0',
    files: { [`${impl}/spec-new.md`]: real('6.12.0', '.claude/skills/bmad-build/spec-template.md') },
    phases: 'nnnp',
    next: ['Build spec-new', 'build'],
  },
];
