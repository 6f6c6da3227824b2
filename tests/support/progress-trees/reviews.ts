import {
  EPICS,
  TEXT,
  impl,
  ledger,
  out,
  planned604,
  two,
  upTo,
  v4Story,
  type ProgressTree,
} from './pieces.ts';

/** A spec as `build` and `quick-dev` write it. */
export const spec = (word: string, rest = ''): string =>
  `---\ntitle: 'Setup'\ntype: 'feature'\nstatus: '${word}'\n---\n\n## Intent\n\n${TEXT}${rest}`;
export const FINDINGS = '\n### Review Findings\n\n- [x] [Review][Patch] Close the file [src/a.ts:3]\n';

const epicsAt = (steps: number): string =>
  `---\nstepsCompleted: [${upTo(steps).join(', ')}]\ninputDocuments: []\n---\n\n${EPICS}`;

export const REVIEW_TREES: readonly ProgressTree[] = [
  {
    name: 'M-50: a spec that is done and a ledger in review agree, and the review comes next',
    install: '6.12.0',
    files: {
      [`${impl}/sprint-status.yaml`]: ledger({ ...two, '1-1-setup': 'review' }),
      [`${impl}/spec-1-1-setup.md`]: spec('done'),
    },
    phases: 'nnnp',
    next: ['Review story 1-1-setup', 'code-review'],
    drift: [],
  },
  {
    name: 'M-50: while a build reviews itself the ledger is in progress',
    install: '6.12.0',
    files: {
      [`${impl}/sprint-status.yaml`]: ledger({ ...two, '1-1-setup': 'in-progress' }),
      [`${impl}/spec-1-1-setup.md`]: spec('in-review'),
    },
    phases: 'nnnp',
    next: ['Continue story 1-1-setup', 'build'],
    drift: [],
  },
  {
    name: 'M-50: what the review has set to done is done',
    install: '6.12.0',
    files: {
      [`${impl}/sprint-status.yaml`]: ledger(two),
      [`${impl}/spec-1-1-setup.md`]: spec('done', FINDINGS),
    },
    phases: 'nnnp',
    next: ['Build story 1-2-login', 'build'],
    drift: [],
    items: { '1-1-setup': `complete ${impl}/sprint-status.yaml:6` },
  },
  {
    name: 'M-50: a spec that the ledger does not know to be built',
    install: '6.12.0',
    files: {
      [`${impl}/sprint-status.yaml`]: ledger({ ...two, '1-1-setup': 'ready-for-dev' }),
      [`${impl}/spec-1-1-setup.md`]: spec('done'),
    },
    phases: 'nnnp',
    next: ['Bring the ledgers up to date', '-'],
    drift: ['status differs 1-1-setup'],
  },
  {
    name: 'M-50: without a ledger a spec that is done is done',
    install: '6.12.0',
    files: { [`${impl}/spec-1-1-setup.md`]: spec('done') },
    phases: 'nnnc',
    next: ['-', '-'],
  },
  {
    name: 'a tech spec that waits for its author',
    install: '6.0.4',
    files: { [`${impl}/tech-spec-login.md`]: spec('review') },
    phases: 'nnnp',
    next: ['Finish tech-spec-login', 'quick-spec'],
  },
  {
    name: 'a tech spec that is built and not yet reviewed',
    install: '6.0.4',
    files: { [`${impl}/tech-spec-login.md`]: spec('Implementation Complete') },
    phases: 'nnnp',
    next: ['Continue tech-spec-login', 'quick-dev'],
  },
  {
    name: 'v4: a story in the middle',
    install: '4.44.3',
    files: { 'docs/stories/1.1.setup.md': v4Story('1.1', 'InProgress') },
    phases: 'nnnp',
    next: ['Continue story 1.1', 'dev *develop-story'],
  },
  {
    name: 'v4: the fixes are made and the gate has passed',
    install: '4.44.3',
    files: {
      'docs/stories/1.1.setup.md': v4Story('1.1', 'Ready for Done'),
      'docs/qa/gates/1.1-setup.yml': 'schema: 1\ngate: PASS\n',
    },
    phases: 'nnnp',
    next: ['Set story 1.1 to Done', '-'],
  },
  {
    name: 'M-61: epics whose last step is not marked',
    install: '6.0.4',
    files: { ...planned604, [`${out}/epics.md`]: epicsAt(3) },
    phases: 'ncpn',
    next: ['Finish the epics and stories', 'create-epics-and-stories'],
    all: [
      'Finish the epics and stories → create-epics-and-stories by pm',
      'Run the readiness check (optional) → check-implementation-readiness by architect',
    ],
    items: { epics: `in progress ${out}/epics.md:2` },
  },
  {
    name: 'M-61: epics whose last step is marked',
    install: '6.0.4',
    files: { ...planned604, [`${out}/epics.md`]: epicsAt(4) },
    phases: 'ncpn',
    next: ['Run the readiness check', 'check-implementation-readiness'],
  },
  {
    name: 'M-61: epics that a sprint was planned with have been checked',
    install: '6.0.4',
    files: {
      ...planned604,
      [`${out}/epics.md`]: epicsAt(3),
      [`${impl}/sprint-status.yaml`]: ledger({ ...two, '2-1-cart': 'backlog', 'epic-2': 'backlog' }),
    },
    phases: 'nccp',
    next: ['Prepare story 1-2-login', 'create-story'],
  },
];
