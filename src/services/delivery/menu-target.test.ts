import { describe, expect, it } from 'vitest';
import { originOf, recordOf } from '../../../tests/support/records.ts';
import { Catalogue } from '../../catalogue/catalogue.ts';
import { menuTargets } from './agent.ts';

const project = originOf(1);
const agent = recordOf('agent bmm/x', { origin: { ...project, root: '/project/my-bmad' } });
const prd = recordOf('workflow bmm/bmad-prd');
const ship = recordOf('workflow bmm/ship', { bmadRelativePath: 'bmm/workflows/ship/workflow.yaml' });
const old = recordOf('workflow bmm/bmad-create-prd', { deprecated: { successor: 'bmad-prd' } });
const same = recordOf('agent bmm/bmad-prd');
const catalogue = new Catalogue({
  records: [agent, prd, ship, old, same],
  modules: [],
  problems: [],
  sources: [],
  files: new Map(),
});

describe('what an entry of a menu starts', () => {
  it.each([
    ['bmad-prd', prd],
    ['skill:bmad-prd', prd],
    ['bmad-create-prd', prd],
    ['{project-root}/_bmad/bmm/workflows/ship/workflow.yaml', ship],
    ['{project-root}/bmad/bmm/workflows/ship/workflow.yaml', ship],
    ['{project-root}/{bmad_folder}/bmm/workflows/ship/workflow.yaml', ship],
    ['{project-root}/my-bmad/bmm/workflows/ship/workflow.yaml', ship],
    ['bmm/workflows/ship/workflow.yaml', ship],
    ['{project-root}/_bmad/bmm/workflows/gone/workflow.yaml', undefined],
    ['todo', undefined],
    ['', undefined],
  ])('%j', (written, expected) => {
    expect(menuTargets(catalogue)(written, agent)).toBe(expected);
  });
});
