import * as z from 'zod';
import { t } from '../../base/text/message.ts';
import { whereField } from '../fields.ts';
import { lines } from '../answer-text.ts';
import { defineOperation } from '../operation.ts';
import { contextSchema, contextText, moreDecisions, SECTIONS } from './project-context-text.ts';

/** What is known of a project, as data. Parts that were not asked for are missing. */

const SECTIONS = ['all', 'stack', 'agents', 'decisions', 'architecture'] as const;
export type ContextSectionName = (typeof SECTIONS)[number];

const anyTable = z.record(z.string(), z.unknown());
const text = z.string().optional();
const request = z.object({
  id: z.string(),
  from: z.string(),
  to: text,
  text: z.string(),
  done: z.boolean(),
  line: z.int(),
});

const told = z.object({ title: z.string(), line: z.int(), text: z.string() });
const document = z.object({ kind: z.string(), path: z.string(), state: z.string() });

export const contextSchema = z.object({
  section: z.enum(SECTIONS),
  root: z.string(),
  layout: z.enum(['bmad', 'grimoire', 'none']),
  project: z.object({
    name: z.string(),
    description: text,
    type: text,
    stack: z.array(z.string()),
    repos: z.array(anyTable),
  }),
  user: z.object({ name: text, language: text, document_language: text, skill_level: text }),
  kit_version: text,
  stack: z
    .object({
      declared: z.array(z.string()),
      told: z.string(),
      rows: z.array(z.record(z.string(), z.string())),
      detected: z.array(z.object({ name: z.string(), because: z.string(), inKit: z.boolean() })),
      /** kubernetes, monitoring, cicd and security of project-context.yaml. */
      settings: anyTable,
    })
    .optional(),
  agents: z
    .object({
      archetype: text,
      archetypes: z.array(z.object({ id: z.string(), installed: text })),
      team: z.array(
        z.object({
          id: z.string(),
          name: text,
          tag: text,
          icon: text,
          domain: text,
          note: text,
          known: z.array(z.string()),
        }),
      ),
      bmad: z.array(z.string()),
      requests: z.array(request),
      handoffs: z.array(request.extend({ date: z.string() })),
    })
    .optional(),
  decisions: z
    .array(
      z.object({
        date: text,
        agent: text,
        text: z.string(),
        architecture: z.boolean(),
        id: text,
        sources: z.array(z.string()),
      }),
    )
    .optional(),
  /** What the shared context says of them. */
  decided: z.array(told).optional(),
  architecture: z
    .object({
      sections: z.array(told),
      infrastructure: z.unknown().optional(),
      files: z.array(z.string()),
      /** Those that BMAD's workflows wrote. */
      documents: z.array(document),
    })
    .optional(),
  /** Stories of the ledger, of files and of the plan. */
  stories: z
    .object({
      total: z.int(),
      done: z.int(),
      /** The receipt of a contract PASS since which nothing has changed. */
      proven_by: text,
      list: z.array(
        z.object({ id: z.string(), status: z.string(), done: z.boolean(), place: text, gate: text }),
      ),
    })
    .optional(),
  /** What BMAD's build workflow has put off, counted, and the file it is in. */
  deferred: deferredSchema.optional(),
  /** What BMAD's workflows have written, and how far each is. */
  documents: z.array(document),
  /** Sections of the shared context that belong nowhere else: conventions, environment, … */
  other: z.array(told).optional(),
  session: z
    .object({
      agent: text,
      date: text,
      duration: text,
      work: z.array(z.string()),
      files: z.array(z.string()),
      state: text,
      next: text,
      requests: z.array(z.string()),
    })
    .optional(),
  memory: anyTable.optional(),
  bmad: anyTable.optional(),
  warnings: z.array(z.string()),
});
export type ContextData = z.input<typeof contextSchema>;

export const getProjectContext = defineOperation({
  name: 'get_project_context',
  title: 'Project context',
  description:
    'Ask what this project is before you work in it: its tech stack, agents, open requests, decisions, architecture and last session.',
  effect: 'read',
  toolset: 'project',
  command: 'project context',
  positional: ['section'],
  examples: ['project context', 'project context decisions'],
  input: z.strictObject({ section: z.enum(SECTIONS).optional(), project: whereField }),
  output: contextSchema,

  async run({ section }, context, call) {
    const { contextData } = await import('./project-context-data.ts');
    return contextData(section ?? 'all', context, call);
  },

  render: (data) => ({
    body: contextText(data, data.section === 'all'),
    steps: moreDecisions(data),
    ...(data.warnings.length === 0 ? {} : { note: lines(data.warnings.map((each) => t`Warning: ${each}`)) }),
  }),
});
