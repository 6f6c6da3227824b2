import type { Origin, BmadRecord, RecordKind } from '../../src/model/record.ts';

export function originOf(priority: number): Origin {
  return priority === 9
    ? { kind: 'package', displayName: 'Built in', root: '/package', priority }
    : { kind: 'project', displayName: 'Project', root: '/project', priority };
}

/** A record made by hand: `agent bmm/bmad-agent-architect`, with whatever else a test is about. */
export function recordOf(text: string, more: Partial<BmadRecord> = {}): BmadRecord {
  const [, kind = '', moduleName = '', name = ''] = /^(\w+) ([^/]*)\/([^]*)$/.exec(text) ?? [];
  return {
    kind: kind as RecordKind,
    source: 'manifest',
    origin: originOf(9),
    moduleName,
    name,
    description: '',
    bmadRelativePath: `${moduleName}/${name}/SKILL.md`,
    moduleRelativePath: `${name}/SKILL.md`,
    absolutePath: `/package/${moduleName}/${name}/SKILL.md`,
    exists: true,
    status: 'verified',
    generation: 'skills',
    format: 'skill',
    aliases: [],
    digest: '',
    ...more,
  };
}
