import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installOf } from '../../../tests/support/installs.ts';
import type { Origin } from '../../model/record.ts';
import { folderTree } from '../../sources/tree.ts';
import { v4Reader } from './index.ts';

const LIMIT = 1_000_000;

function sourceOf(root: string) {
  const origin: Origin = { kind: 'project', displayName: 'Project', root, priority: 1 };
  return { origin, tree: folderTree(root, LIMIT) };
}

describe('the reader of version 4 on BMAD 4.44.3', async () => {
  const root = await installOf('4.44.3');
  const source = sourceOf(root);
  const { records, modules, problems } = await v4Reader.read(source);
  const at = (path: string) => records.find((record) => record.bmadRelativePath === path);

  it('finds everything in every module, and no problem', () => {
    expect(problems).toEqual([]);
    const counts: Record<string, Record<string, number>> = {};
    for (const { moduleName, kind } of records) {
      const module = (counts[moduleName] ??= {});
      module[kind] = (module[kind] ?? 0) + 1;
    }
    expect(counts).toEqual({
      'bmad-2d-phaser-game-dev': {
        agent: 5,
        workflow: 2,
        task: 9,
        template: 9,
        checklist: 2,
        knowledge: 4,
        team: 1,
      },
      'bmad-2d-unity-game-dev': {
        agent: 6,
        workflow: 2,
        task: 13,
        template: 9,
        checklist: 4,
        knowledge: 4,
        team: 1,
      },
      'bmad-core': {
        agent: 10,
        workflow: 6,
        task: 23,
        template: 13,
        checklist: 6,
        knowledge: 6,
        team: 4,
      },
      'bmad-creative-writing': {
        agent: 11,
        workflow: 8,
        task: 26,
        template: 8,
        checklist: 27,
        knowledge: 3,
        team: 1,
      },
      'bmad-godot-game-dev': {
        agent: 10,
        workflow: 2,
        task: 21,
        template: 12,
        checklist: 6,
        knowledge: 5,
        team: 1,
      },
      'bmad-infrastructure-devops': { agent: 1, task: 4, template: 2, checklist: 1, knowledge: 2 },
    });
  });

  it('names files that exist, each once, in a fixed order', async () => {
    const paths = records.map(({ bmadRelativePath }) => bmadRelativePath);
    expect(paths).toEqual([...new Set(paths)].sort());
    for (const record of records) {
      expect(record).toMatchObject({
        exists: true,
        status: 'verified',
        source: 'manifest',
        generation: 'v4',
      });
      expect(record.absolutePath).toBe(join(root, record.bmadRelativePath));
      expect(record.bmadRelativePath).toBe(`.${record.moduleName}/${record.moduleRelativePath}`);
      const digest = createHash('sha256').update(await readFile(record.absolutePath));
      expect(record.digest).toBe(digest.digest('hex'));
      expect(record.description, record.bmadRelativePath).not.toBe('');
    }
    expect(await v4Reader.read(source)).toEqual({ records, modules, problems });
  });

  it('describes an agent in full', () => {
    expect(at('.bmad-godot-game-dev/agents/game-analyst.md')).toEqual({
      kind: 'agent',
      source: 'manifest',
      origin: source.origin,
      moduleName: 'bmad-godot-game-dev',
      moduleVersion: '1.0.0',
      bmadVersion: '4.44.3',
      name: 'game-analyst',
      displayName: 'Maeve',
      title: 'Game Development Analyst',
      icon: '📊',
      description:
        'Use for market research, brainstorming, competitive analysis, creating project briefs, initial project ' +
        'discovery, and documenting existing projects (brownfield)',
      bmadRelativePath: '.bmad-godot-game-dev/agents/game-analyst.md',
      moduleRelativePath: 'agents/game-analyst.md',
      absolutePath: join(root, '.bmad-godot-game-dev/agents/game-analyst.md'),
      exists: true,
      status: 'verified',
      generation: 'v4',
      format: 'v4-agent',
      aliases: ['Maeve', 'Game Development Analyst', 'analyst'],
      uses: [
        'data/bmad-kb.md',
        'data/brainstorming-techniques.md',
        'tasks/advanced-elicitation.md',
        'tasks/create-deep-research-prompt.md',
        'tasks/create-doc.md',
        'tasks/document-project.md',
        'tasks/facilitate-brainstorming-session.md',
        'templates/brainstorming-output-tmpl.yaml',
        'templates/competitor-analysis-tmpl.yaml',
        'templates/game-brief-tmpl.yaml',
        'templates/market-research-tmpl.yaml',
      ].map((file) => `.bmad-godot-game-dev/${file}`),
      details: {
        role: expect.stringMatching(/\S/),
        identity: expect.stringMatching(/\S/),
        communicationStyle: expect.stringMatching(/\S/),
        principles: expect.stringMatching(/\S/),
      },
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      likeness: expect.stringMatching(/^[\da-f]{64}$/),
    });
    const devops = at('.bmad-infrastructure-devops/agents/infra-devops-platform.md');
    expect(devops).toMatchObject({
      displayName: 'Alex',
      description: 'DevOps Infrastructure Specialist Platform Engineer',
    });
    expect(devops).not.toHaveProperty('icon');
  });

  it('describes workflows: nested, flat, after a comment and in Markdown', () => {
    const shown = [
      '.bmad-2d-unity-game-dev/workflows/game-prototype.yaml',
      '.bmad-creative-writing/workflows/novel-writing.yaml',
      '.bmad-creative-writing/workflows/novel-snowflake-workflow.yaml',
      '.bmad-creative-writing/workflows/book-cover-design-workflow.md',
    ].map((path) => {
      const { kind, format, name, displayName, description, aliases } = at(path) ?? {};
      expect([kind, format]).toEqual(['workflow', 'v4-workflow']);
      return { name, displayName, description, aliases };
    });
    expect(shown).toMatchInlineSnapshot(`
      [
        {
          "aliases": [
            "Game Prototype Development (Unity)",
            "unity-game-prototype",
          ],
          "description": "Fast-track workflow for rapid game prototyping and concept validation. Optimized for game jams, proof-of-concept development, and quick iteration on game mechanics using Unity and C#.",
          "displayName": "Game Prototype Development (Unity)",
          "name": "game-prototype",
        },
        {
          "aliases": [
            "Novel Writing Workflow",
          ],
          "description": "End‑to‑end pipeline for drafting, revising, and polishing a full‑length novel using the BMAD™ Creative Writing team.",
          "displayName": "Novel Writing Workflow",
          "name": "novel-writing",
        },
        {
          "aliases": [
            "Snowflake Novel Workflow",
          ],
          "description": "10‑step Snowflake Method culminating in professional critic review.",
          "displayName": "Snowflake Novel Workflow",
          "name": "novel-snowflake-workflow",
        },
        {
          "aliases": [
            "Book Cover Design Assets",
          ],
          "description": "Book Cover Design Assets",
          "displayName": "Book Cover Design Assets",
          "name": "book-cover-design-workflow",
        },
      ]
    `);
  });

  it('describes the other kinds by what they say of themselves', () => {
    const shown = [
      '.bmad-core/agent-teams/team-fullstack.yaml',
      '.bmad-core/checklists/change-checklist.md',
      '.bmad-core/data/technical-preferences.md',
      '.bmad-core/tasks/create-doc.md',
      '.bmad-core/tasks/facilitate-brainstorming-session.md',
      '.bmad-core/tasks/qa-gate.md',
      '.bmad-core/templates/prd-tmpl.yaml',
      '.bmad-creative-writing/checklists/kdp-cover-ready-checklist.md',
      '.bmad-creative-writing/tasks/analyze-reader-feedback.md',
      '.bmad-creative-writing/templates/story-outline-tmpl.yaml',
    ].map((path) => {
      const { kind, format, icon, displayName, description, aliases = [] } = at(path) ?? {};
      expect(format).toBe('document');
      return [kind, icon ?? '-', displayName ?? '-', description, aliases.join(', ')].join(' | ');
    });
    expect(shown).toMatchInlineSnapshot(`
      [
        "team | 🚀 | Team Fullstack | Team capable of full stack, front end only, or service development. | Team Fullstack",
        "checklist | - | Change Navigation Checklist | To systematically guide the selected Agent and user through the analysis and planning required when a significant change (pivot, tech issue, missing requirement, failed story) is identified during the BMad workflow. | Change Navigation Checklist",
        "knowledge | - | User-Defined Preferred Patterns and Preferences | User-Defined Preferred Patterns and Preferences | User-Defined Preferred Patterns and Preferences",
        "task | - | Create Document from Template (YAML Driven) | Create Document from Template (YAML Driven) | Create Document from Template (YAML Driven)",
        "task | - | Facilitate Brainstorming Session Task | Facilitate interactive brainstorming sessions with users. | Facilitate Brainstorming Session Task",
        "task | - | - | Create or update a quality gate decision file for a story based on review findings. | ",
        "template | - | Product Requirements Document | Product Requirements Document | Product Requirements Document, prd-template-v2",
        "checklist | - | KDP Cover Ready Checklist | Ensure final cover meets Amazon KDP print specs. | KDP Cover Ready Checklist",
        "task | - | Analyze Reader Feedback | Summarize reader comments, identify trends, update story bible. | Analyze Reader Feedback",
        "template | - | Story Outline Template | Comprehensive outline for narrative works | Story Outline Template, story-outline",
      ]
    `);
  });

  it('keeps what has the same name in several modules', () => {
    const modulesWith = (kind: string, name: string) =>
      records
        .filter((record) => record.kind === kind && record.name === name)
        .map((record) => record.moduleName);
    expect(modulesWith('agent', 'analyst')).toEqual([
      'bmad-2d-phaser-game-dev',
      'bmad-2d-unity-game-dev',
      'bmad-core',
    ]);
    expect(modulesWith('agent', 'bmad-orchestrator').length).toBe(5);
    expect(modulesWith('task', 'create-doc').length).toBe(6);
    expect(modulesWith('knowledge', 'bmad-kb').length).toBe(6);
    expect(modulesWith('workflow', 'game-prototype').length).toBe(3);
  });

  it('describes the modules', () => {
    expect(modules.map(({ code, name, version, roster }) => [code, name, version, roster.length])).toEqual([
      ['bmad-2d-phaser-game-dev', 'Phaser 3 2D Game Dev Pack', '1.13.0', 5],
      ['bmad-2d-unity-game-dev', 'Unity C# 2D Game Dev Pack', '1.6.0', 6],
      ['bmad-core', 'bmad-core', '4.44.3', 10],
      ['bmad-creative-writing', 'Creative Writing Studio', '1.1.1', 11],
      ['bmad-godot-game-dev', 'Godot Game Dev Pack', '1.0.0', 10],
      ['bmad-infrastructure-devops', 'Infrastructure DevOps Pack', '1.12.0', 1],
    ]);
    expect(modules[0]).toMatchObject({
      description: '2D Game Development expansion pack for BMad Method - Phaser 3 & TypeScript focused',
      origin: source.origin,
      settings: [],
      help: [],
    });
    expect(modules[2]?.roster[1]).toEqual({
      code: 'architect',
      name: 'Winston',
      title: 'Architect',
      icon: '🏗️',
      team: 'bmad-core',
      description:
        'Use for system design, architecture documents, technology selection, API design, and infrastructure planning',
    });
  });

  it('reads one of the folders by itself', async () => {
    const alone = await v4Reader.read(sourceOf(join(root, '.bmad-core')));
    expect(alone.problems).toEqual([]);
    expect(alone.modules.map(({ code, version }) => [code, version])).toEqual([['bmad-core', '4.44.3']]);
    const core = records.filter(({ moduleName }) => moduleName === 'bmad-core');
    expect(alone.records).toEqual(
      core.map((record) => ({
        ...record,
        origin: alone.records[0]?.origin,
        bmadRelativePath: record.moduleRelativePath,
        ...(record.uses === undefined
          ? {}
          : { uses: record.uses.map((path) => path.replace('.bmad-core/', '')) }),
      })),
    );
    const pack = await v4Reader.read(sourceOf(join(root, '.bmad-godot-game-dev')));
    expect(pack.records.length).toBe(57);
    expect(pack.records[0]).toMatchObject({ status: 'verified', moduleVersion: '1.0.0' });
    expect(pack.records[0]).not.toHaveProperty('bmadVersion');
  });
});
