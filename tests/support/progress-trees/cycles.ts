import {
  TEXT,
  impl,
  ledger,
  out,
  plain,
  planned604,
  story,
  two,
  v4Story,
  type ProgressTree,
} from './pieces.ts';

const plan4 = {
  'docs/prd/index.md': plain,
  'docs/prd/epic-1-base.md': `# Epic 1 Base\n\n${TEXT}\n## Story 1.1 Setup\n\n## Story 1.2 Login\n`,
  'docs/architecture/index.md': plain,
};
const STORY = 'docs/stories/1.1.setup.md';
const GATE = 'docs/qa/gates/1.1-setup.yml';
const LATER_4 = 'Prepare story 1.2 (optional) → sm *draft';
const FINDINGS_4 = 'Address the review findings for story 1.1';
const gate = (word: string, updated?: string): string =>
  `schema: 1\ngate: ${word}\n${updated === undefined ? '' : `updated: ${updated}\n`}`;
/** A project of version 4 whose first story is somewhere. */
const at4 = (word: string, rest: Readonly<Record<string, string>> = {}) => ({
  install: '4.44.3' as const,
  files: { ...plan4, [STORY]: v4Story('1.1', word), ...rest },
  phases: 'nccp',
});
/** A project of 6.0.4 whose first story is somewhere. */
const at6 = (word: string, second = 'backlog') => ({
  install: '6.0.4' as const,
  files: {
    ...planned604,
    [`${impl}/sprint-status.yaml`]: ledger({
      ...two,
      '1-1-setup': word,
      '1-2-login': second,
      'epic-2': 'backlog',
      '2-1-cart': 'backlog',
    }),
    ...(word === 'backlog' ? {} : { [`${impl}/1-1-setup.md`]: story('1.1', word) }),
  },
  phases: 'nccp',
});
const LATER_6 = 'Prepare story 1-2-login (optional) → create-story by sm';
const CONTRACT = { '_bmad/_config/custom/cc-verify.sh': 'echo\n' };

/** The turns of a story, one tree each: none leads back to the one before, and none is offered too early. */
export const CYCLE_TREES: readonly ProgressTree[] = [
  {
    name: 'v4: a draft, and the next story waits',
    ...at4('Draft'),
    next: ['Check and approve story 1.1', 'po *validate-story-draft'],
    all: ['Check and approve story 1.1 → po *validate-story-draft', LATER_4],
  },
  {
    name: 'v4: approved, and the next story waits',
    ...at4('Approved'),
    next: ['Build story 1.1', 'dev *develop-story'],
    all: ['Build story 1.1 → dev *develop-story', LATER_4],
  },
  {
    name: 'v4: in review, and the next story waits',
    ...at4('Ready for Review'),
    next: ['Review story 1.1', 'qa *review'],
    all: ['Review story 1.1 → qa *review', LATER_4],
  },
  {
    name: 'v4: a gate with concerns that nobody has dealt with',
    ...at4('Ready for Review', { [GATE]: gate('CONCERNS') }),
    times: { [STORY]: '2026-01-05T10:00:00Z', [GATE]: '2026-01-05T10:05:00Z' },
    next: [FINDINGS_4, 'dev *review-qa'],
    all: [`${FINDINGS_4} → dev *review-qa`, LATER_4],
  },
  {
    name: 'v4: a gate with concerns and a made-up time',
    ...at4('Ready for Review', { [GATE]: gate('CONCERNS', '2025-01-01T00:00:00Z') }),
    times: { [STORY]: '2026-01-05T10:00:00Z', [GATE]: '2026-01-05T10:05:00Z' },
    next: [FINDINGS_4, 'dev *review-qa'],
  },
  {
    name: 'v4: a gate with concerns, and the fixes are made',
    ...at4('Ready for Review', { [GATE]: gate('CONCERNS') }),
    times: { [STORY]: '2026-01-05T10:30:00Z', [GATE]: '2026-01-05T10:05:00Z' },
    next: ['Review story 1.1 again', 'qa *review'],
    all: ['Review story 1.1 again → qa *review', LATER_4],
  },
  {
    name: 'v4: a checkout in which the gate tells when it was written',
    ...at4('Ready for Review', { [GATE]: gate('FAIL', '2026-01-05T10:05:00Z') }),
    times: { [STORY]: '2026-01-07T10:00:00Z', [GATE]: '2026-01-07T10:00:00Z' },
    next: ['Review story 1.1 again', 'qa *review'],
  },
  {
    name: 'v4: a gate that has passed, and the owner sets the status',
    ...at4('Ready for Done', { [GATE]: gate('PASS') }),
    next: ['Set story 1.1 to Done', '-'],
    all: ['Set story 1.1 to Done', LATER_4],
  },
  {
    name: 'v4: a gate that has passed, and a contract to ask',
    ...at4('Ready for Done', { [GATE]: gate('PASS'), ...CONTRACT }),
    next: ['Set story 1.1 to Done', '-'],
    all: ['Set story 1.1 to Done', 'Prove that story 1.1 is done (optional)', LATER_4],
  },
  {
    name: 'v4: done, and the next story is prepared',
    ...at4('Done', { [GATE]: gate('PASS') }),
    next: ['Prepare story 1.2', 'sm *draft'],
    all: ['Prepare story 1.2 → sm *draft'],
  },
  {
    name: 'v4: a script beside the install is no install of 6',
    install: '4.44.3',
    files: { ...plan4, ...CONTRACT },
    phases: 'nccn',
    next: ['Draft the first story', 'sm *draft'],
    all: ['Draft the first story → sm *draft'],
  },
  {
    name: '6.0.4: the plan is complete, and its check comes before the sprint',
    install: '6.0.4',
    files: planned604,
    phases: 'ncpn',
    next: ['Run the readiness check', 'check-implementation-readiness'],
    all: ['Run the readiness check → check-implementation-readiness by architect'],
  },
  {
    name: '6.0.4: a planned sprint is past the check',
    ...at6('backlog'),
    phases: 'nccn',
    next: ['Prepare story 1-1-setup', 'create-story'],
    all: ['Prepare story 1-1-setup → create-story by sm'],
  },
  {
    name: '6.0.4: ready, and the next story waits',
    ...at6('ready-for-dev'),
    next: ['Build story 1-1-setup', 'dev-story'],
    all: ['Build story 1-1-setup → dev-story by dev', LATER_6],
  },
  {
    name: '6.0.4: in review, and the next story waits',
    ...at6('review'),
    next: ['Review story 1-1-setup', 'code-review'],
    all: ['Review story 1-1-setup → code-review by dev', LATER_6],
  },
  {
    name: '6.0.4: done, and the next story is prepared',
    ...at6('done'),
    next: ['Prepare story 1-2-login', 'create-story'],
    all: ['Prepare story 1-2-login → create-story by sm'],
  },
  {
    name: '6.0.4: a check that said no, after the sprint was planned',
    ...at6('done'),
    files: {
      ...at6('done').files,
      [`${out}/implementation-readiness-report-2026-01-01.md`]: `# Report\n\n${TEXT}\n### Overall Readiness Status\n\nNOT READY\n`,
    },
    phases: 'ncpp',
    next: ['Prepare story 1-2-login', 'create-story'],
    all: [
      'Prepare story 1-2-login → create-story by sm',
      'Repeat the readiness check (optional) → check-implementation-readiness by architect',
    ],
  },
  {
    name: '6.0.4: quick work has an agent of its own',
    install: '6.0.4',
    files: { [`${impl}/tech-spec-login.md`]: '---\nstatus: ready-for-dev\n---\n\n# Login\n' },
    phases: 'nnnp',
    next: ['Build tech-spec-login', 'quick-dev'],
    all: ['Build tech-spec-login → quick-dev by quick-flow-solo-dev'],
  },
  {
    name: '6.12: an epic that its retrospective has rejected is not finished',
    install: '6.12.0',
    files: {
      [`${impl}/sprint-status.yaml`]: ledger({
        'epic-1': 'done',
        '1-1-setup': 'done',
        'epic-1-retrospective': 'done',
      }),
      [`${impl}/epic-1-retro-2026-11-16.md`]: `---\nepic: 1\nverdict: rejected\n---\n\n# Retrospective\n\n${TEXT}`,
    },
    phases: 'nnnc',
    next: ['Settle why epic 1 was rejected', '-'],
  },
];
