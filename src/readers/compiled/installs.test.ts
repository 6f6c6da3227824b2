import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { installOf, upgrade, type Version } from '../../../tests/support/installs.ts';
import type { Origin, BmadRecord, RecordKind } from '../../model/record.ts';
import { mountedTree, folderTree, type Tree } from '../../sources/tree.ts';
import type { Reading } from '../reader.ts';
import { compiledReader } from './index.ts';
import { copyFolder } from '../../../tests/support/folders.ts';
import { isDeep, ofUsual, usually } from '../../../tests/support/how-much.ts';

const LIMIT = 10_000_000;

function read(tree: Tree): Promise<Reading> {
  const origin: Origin = { kind: 'project', displayName: 'Project', root: tree.root, priority: 1 };
  return compiledReader.read({ origin, tree });
}

const ROOTS: Partial<Record<Version, string>> = { '6.0.0-alpha.7': 'bmad' };

async function rootOf(version: Version): Promise<string> {
  return join(await installOf(version), ROOTS[version] ?? '_bmad');
}

/** How many there are of each kind, module by module: `agent: 'bmm 9, core 1'`. */
function counts(records: readonly BmadRecord[]): Partial<Record<RecordKind, string>> {
  const kinds = new Map<RecordKind, Map<string, number>>();
  for (const { kind, moduleName, exists } of records) {
    if (!exists) continue;
    const modules = kinds.get(kind) ?? new Map<string, number>();
    kinds.set(kind, modules.set(moduleName, (modules.get(moduleName) ?? 0) + 1));
  }
  return Object.fromEntries(
    [...kinds].map(([kind, modules]) => [kind, [...modules].map((pair) => pair.join(' ')).join(', ')]),
  );
}

const EXPECTED: Partial<Record<Version, Partial<Record<RecordKind, string>>>> = {
  '6.0.0-alpha.7': {
    agent: 'bmb 1, bmgd 4, bmm 8, cis 5, core 1',
    workflow: 'bmb 10, bmgd 15, bmm 31, cis 4, core 2',
    task: 'bmm 1, core 4',
    tool: 'core 1',
    knowledge: 'bmm 21',
    team: 'bmgd 1, bmm 1, cis 1',
    template: 'bmb 3, bmgd 8, bmm 29, cis 4, core 1',
    checklist: 'bmb 11, bmgd 11, bmm 25',
  },
  '6.0.0-alpha.22': {
    agent: 'bmb 3, bmgd 6, bmm 9, cis 6, core 1',
    workflow: 'bmb 6, bmgd 26, bmm 32, cis 4, core 2',
    task: 'core 6',
    knowledge: 'bmgd 16, bmm 32',
    team: 'bmgd 2, bmm 2, cis 2',
    template: 'bmb 9, bmgd 13, bmm 25, cis 4, core 1',
    checklist: 'bmb 2, bmgd 17, bmm 18',
  },
  '6.0.0-Beta.5': {
    agent: 'bmm 9, core 1',
    workflow: 'bmm 23, core 2',
    task: 'core 8',
    team: 'bmm 2',
    template: 'bmm 17, core 1',
    checklist: 'bmm 11',
  },
  '6.0.4': {
    agent: 'bmm 9, core 1',
    workflow: 'bmm 23, core 2',
    // Seven are listed; the manifest leaves out the engine of the workflows, and the task that lies among them.
    task: 'core 9',
    team: 'bmm 2',
    template: 'bmm 16, core 1',
    checklist: 'bmm 7',
  },
  '6.1.0': {
    agent: 'bmm 9, core 1',
    workflow: 'bmm 23, core 1',
    team: 'bmm 2',
    template: 'bmm 16',
    checklist: 'bmm 7',
  },
  '6.2.0': { agent: 'bmm 9', team: 'bmm 2', template: 'bmm 2' },
};

describe.each(usually(Object.keys(EXPECTED) as Version[]))(
  'the compiled reader on BMAD %s',
  async (version) => {
    const root = await rootOf(version);
    const { records, modules, problems } = await read(folderTree(root, LIMIT));

    it('finds everything, and no problem', () => {
      expect(problems).toEqual([]);
      expect(counts(records)).toEqual(EXPECTED[version]);
    });

    it('serves only files that exist, each under one name', () => {
      expect(records.filter(({ absolutePath }) => !existsSync(absolutePath))).toEqual([]);
      const names = records.map(({ kind, moduleName, name }) => `${kind} ${moduleName}/${name}`);
      expect(new Set(names).size).toBe(names.length);
      expect(records.every(({ bmadVersion }) => bmadVersion === version)).toBe(true);
      expect(records.every(({ digest }) => /^[\da-f]{64}$/.test(digest))).toBe(true);
    });

    it('says the same twice', async () => {
      expect(await read(folderTree(root, LIMIT))).toEqual({ records, modules, problems });
    });

    it('finds the same without manifests, except for what only they call a workflow', async () => {
      const mounts = modules.map(({ code }) => ({ at: code, tree: folderTree(join(root, code), LIMIT) }));
      const bare = await read(mountedTree(root, mounts));
      expect(bare.problems).toEqual([]);
      const idOf = ({ kind, moduleName, name }: BmadRecord): string => `${kind} ${moduleName}/${name}`;
      const found = new Set(bare.records.map(idOf));
      expect(bare.records.length).toBe(found.size);
      expect(records.map(idOf).filter((id) => !found.has(id))).toEqual(
        version === '6.0.0-alpha.22' ? ['workflow bmb/Meal Prep & Nutrition Plan'] : [],
      );
    });
  },
);

async function recordsOf(version: Version): Promise<BmadRecord[]> {
  return (await read(folderTree(await rootOf(version), LIMIT))).records;
}

const named = (records: readonly BmadRecord[], kind: RecordKind, name: string): BmadRecord | undefined =>
  records.find((record) => record.kind === kind && record.name === name);

describe('what the compiled reader knows', () => {
  it.runIf(isDeep)('describes an agent', async () => {
    const root = await rootOf('6.1.0');
    const record = named(await recordsOf('6.1.0'), 'agent', 'tech-writer');
    expect(record).toEqual({
      kind: 'agent',
      source: 'manifest',
      origin: record?.origin,
      moduleName: 'bmm',
      moduleVersion: '6.1.0',
      bmadVersion: '6.1.0',
      name: 'tech-writer',
      displayName: 'Paige',
      title: 'Technical Writer',
      icon: '📚',
      description: 'Technical Writer',
      bmadRelativePath: 'bmm/agents/tech-writer/tech-writer.md',
      moduleRelativePath: 'agents/tech-writer/tech-writer.md',
      absolutePath: join(root, 'bmm/agents/tech-writer/tech-writer.md'),
      exists: true,
      status: 'verified',
      generation: 'compiled',
      format: 'compiled-agent',
      aliases: ['Paige', 'Technical Writer', 'bmad-tech-writer', 'tech writer'],
      details: {
        role: 'Technical Documentation Specialist + Knowledge Curator',
        identity: expect.stringMatching(/^Experienced technical writer/),
        communicationStyle: expect.stringMatching(/^Patient educator/),
        principles: expect.stringMatching(/\S/),
      },
      digest: record?.digest,
    });
  });

  it('describes workflows, with their phase and other names', async () => {
    const records = await recordsOf('6.0.0-alpha.7');
    expect(named(records, 'workflow', 'testarch-nfr')).toMatchObject({
      format: 'workflow-yaml',
      phase: 'testarch',
      aliases: ['nfr-assess'],
      bmadRelativePath: 'bmm/workflows/testarch/nfr-assess/workflow.yaml',
    });
    expect(named(records, 'workflow', 'document-project')?.phase).toBeUndefined();
    expect(named(records, 'workflow', 'workflow-init')?.phase).toBeUndefined();
  });

  it.runIf(isDeep)('describes workflows that share a folder', async () => {
    const later = await recordsOf('6.1.0');
    const ofFolder = later.filter(({ bmadRelativePath }) =>
      bmadRelativePath.includes('/create-prd/workflow-'),
    );
    expect(ofFolder.map(({ name, phase, aliases }) => [name, phase, aliases])).toEqual([
      ['create-prd', '2-plan-workflows', ['bmad-create-prd']],
      ['edit-prd', '2-plan-workflows', ['bmad-edit-prd']],
      ['validate-prd', '2-plan-workflows', ['bmad-validate-prd']],
    ]);
  });

  it.each(
    ofUsual([
      ['6.0.0-alpha.7', 10],
      ['6.0.0-alpha.22', 12],
    ] as const),
  )('keeps the workflows that two modules of %s have', async (version, count) => {
    const workflows = (await recordsOf(version)).filter(({ kind }) => kind === 'workflow');
    const inBmgd = new Set(
      workflows.filter(({ moduleName }) => moduleName === 'bmgd').map(({ name }) => name),
    );
    const both = workflows.filter(({ name, moduleName }) => moduleName === 'bmm' && inBmgd.has(name));
    expect(both.length).toBe(count);
  });

  it('describes tasks, tools, knowledge and teams', async () => {
    const records = await recordsOf('6.0.0-alpha.7');
    expect(named(records, 'tool', 'shard-doc')).toMatchObject({
      displayName: 'Shard Document',
      format: 'xml',
      aliases: ['Shard Document'],
    });
    expect(named(records, 'knowledge', 'ci-burn-in')).toMatchObject({
      title: 'CI and Burn-In Strategy',
      description:
        'Staged jobs, shard orchestration, burn-in loops, artifact policy [ci,automation,flakiness]',
      aliases: [],
      bmadRelativePath: 'bmm/testarch/knowledge/ci-burn-in.md',
    });
    expect(named(records, 'team', 'team-fullstack')?.title).toBe('Team Plan and Architect');
    const help = named(await recordsOf('6.0.4'), 'task', 'help');
    expect([help?.format, help?.status]).toEqual(['document', 'verified']);
    const engine = named(await recordsOf('6.0.4'), 'task', 'workflow');
    expect([engine?.displayName, engine?.source, engine?.status]).toEqual([
      'Execute Workflow',
      'filesystem',
      'not-in-manifest',
    ]);
  });
});

describe('the modules of compiled installs', () => {
  it('have versions, values, agents and help', async () => {
    const { modules } = await read(folderTree(await rootOf('6.0.4'), LIMIT));
    const [bmm, core] = modules;
    expect([bmm?.code, bmm?.name, bmm?.version, core?.code]).toEqual(['bmm', 'BMad Method', '6.0.4', 'core']);
    expect(bmm?.settings).toContainEqual({
      key: 'planning_artifacts',
      default: '{project-root}/_bmad-output/planning-artifacts',
      result: '{value}',
    });
    expect(bmm?.roster.map(({ code }) => code)).toEqual([
      'analyst',
      'architect',
      'dev',
      'pm',
      'qa',
      'quick-flow-solo-dev',
      'sm',
      'tech-writer',
      'ux-designer',
    ]);
    expect(bmm?.help.filter(({ required }) => required).map(({ skill }) => skill)).toEqual([
      'create-prd',
      'create-architecture',
      'create-epics-and-stories',
      'check-implementation-readiness',
      'sprint-planning',
      'create-story',
      'dev-story',
    ]);
  });

  it('name in their help what is there, whatever the command is called', async () => {
    for (const version of usually(['6.0.0-Beta.5', '6.0.4', '6.1.0'])) {
      const { modules, records } = await read(folderTree(await rootOf(version), LIMIT));
      const names = new Set(records.map(({ name }) => name));
      const rows = modules.flatMap(({ help }) => help).filter(({ skill }) => !skill.startsWith('bmad-'));
      expect(rows.filter(({ skill }) => !names.has(skill))).toEqual([]);
    }
  });
});

describe('upgraded installs', () => {
  it('list what is gone and do not serve it', async () => {
    const folder = await temporaryFolder(afterAll);
    copyFolder(await installOf('6.0.4'), folder);
    await upgrade(folder, '6.12.0');
    const { records, modules, problems } = await read(folderTree(join(folder, '_bmad'), LIMIT));
    expect(problems).toEqual([]);
    expect(records.filter(({ exists }) => exists)).toEqual([]);
    expect(records.length).toBe(42);
    expect(named(records, 'agent', 'pm')).toMatchObject({
      status: 'no-file-found',
      source: 'manifest',
      digest: '',
    });
    expect(modules.map(({ code, version, roster }) => [code, version, roster])).toEqual([
      ['bmm', '6.12.0', []],
      ['core', '6.12.0', []],
    ]);
  });
});
