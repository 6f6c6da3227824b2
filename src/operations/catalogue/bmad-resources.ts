import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { present } from '../../base/present.ts';
import { cursorField, projectField, sectionField } from '../fields.ts';
import { defineRoute } from '../operation.ts';

const OPERATIONS = ['read', 'list', 'modules', 'agents', 'workflows', 'search'] as const;
type Name = (typeof OPERATIONS)[number];

interface Lookup {
  to: string;
  /** The argument without which it makes no sense, and what an example looks like. */
  needs?: { name: 'uri' | 'query'; example: string; why: string };
  /** Arguments of the operation behind it that this one fixes, and those it calls by another name. */
  fixed: Record<string, string>;
  spoken: Record<string, string>;
}

const ROUTES: Record<Name, Lookup> = {
  read: {
    to: 'read',
    needs: { name: 'uri', example: 'bmad://core/config.yaml', why: 'Read a file' },
    fixed: { kind: 'resource' },
    spoken: { target: 'uri' },
  },
  list: { to: 'list', fixed: { what: 'resources' }, spoken: {} },
  modules: { to: 'list', fixed: { what: 'modules' }, spoken: {} },
  agents: { to: 'list', fixed: { what: 'agents' }, spoken: {} },
  workflows: { to: 'list', fixed: { what: 'workflows' }, spoken: {} },
  search: {
    to: 'search',
    needs: { name: 'query', example: 'product manager', why: 'Find something by words' },
    fixed: {},
    spoken: {},
  },
};

/** The tool for looking around that goes with the tools of agents; it hands over to the operations behind `bmad`. */
export const bmadResources = defineRoute({
  name: 'bmad-resources',
  title: 'Find and read BMAD content',
  description:
    'Access BMAD content. read: a file by bmad:// URI. list: all files, or those matching a pattern. modules, agents, workflows: list them. search: agents and workflows by words.',
  effect: 'read',
  toolset: 'agents',
  input: z.strictObject({
    operation: z.enum(OPERATIONS),
    uri: z.string().optional().describe('read: e.g. bmad://core/config.yaml'),
    pattern: z.string().optional().describe('list: glob, e.g. core/**/*.md'),
    query: z.string().optional().describe('search: words'),
    type: z.enum(['agents', 'workflows', 'all']).optional().describe('search: what to look for'),
    section: sectionField,
    cursor: cursorField,
    project: projectField,
  }),
  output: z.object({ operation: z.enum(OPERATIONS), result: z.record(z.string(), z.unknown()) }),
  route({ operation, uri, ...rest }) {
    const { needs, fixed, spoken, to } = ROUTES[operation];
    const given = { ...rest, uri };
    if (needs !== undefined && given[needs.name] === undefined) {
      throw new BmadError('invalid_input', t`bmad-resources: ${operation} needs "${needs.name}".`, {
        steps: [
          { operation: 'bmad-resources', args: { operation, [needs.name]: needs.example }, why: needs.why },
        ],
      });
    }
    const args: Record<string, unknown> = operation === 'read' ? { ...rest, target: uri } : given;
    return { to, args: present({ ...args, ...fixed }), spoken, within: { operation } };
  },
});
