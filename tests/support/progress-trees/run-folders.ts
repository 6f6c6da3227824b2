import { real } from './installed.ts';
import { out, steps, upTo, status, plain, EPICS, workflows, type ProgressTree } from './pieces.ts';

export const RUN_FOLDER_TREES: readonly ProgressTree[] = [
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
    name: 'alpha.7: a tech spec is a plan of its own',
    install: '6.0.0-alpha.7',
    files: { 'docs/tech-spec.md': plain },
    phases: 'ncnn',
    next: ['Plan the sprint', 'sprint-planning'],
  },
];
