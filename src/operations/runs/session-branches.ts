import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { projectField } from '../fields.ts';
import { lines, titledList } from '../answer-text.ts';
import { defineOperation } from '../operation.ts';
import { branchField } from './run-fields.ts';

const nameField = branchField.describe('Name of the branch: letters, digits, "-" and "_"');

export const sessionCreate = defineOperation({
  name: 'session_create',
  title: 'Create a session branch',
  description: 'Create a session branch that keeps its runs separate. It does not become the current one.',
  effect: 'write',
  behind: { manage_project: 'session_create' },
  command: 'session create',
  positional: ['name'],
  input: z.strictObject({
    name: nameField,
    purpose: z.string().min(1).max(1_000).optional().describe('What it is for'),
    parent: branchField.optional().describe('The branch it starts from; default: the current one'),
    project: projectField,
  }),
  output: z.object({ branch: z.string(), folder: z.string() }),
  async run({ name, purpose, parent, project }, context) {
    const runs = await (await context.state(project)).runs();
    return runs.createBranch(name, { purpose, parent });
  },
  render: ({ branch, folder }) => ({
    body: t`Created ${branch} in ${folder}.`,
    steps: [
      { operation: 'session_switch', args: { name: branch }, why: t`Make it the current session branch` },
    ],
  }),
});

export const sessionSwitch = defineOperation({
  name: 'session_switch',
  title: 'Switch to a session branch',
  description: 'Make a session branch the current one, which is used when none is named.',
  effect: 'write',
  behind: { manage_project: 'session_switch' },
  command: 'session switch',
  picks: { name: 'session' },
  positional: ['name'],
  input: z.strictObject({ name: nameField, project: projectField }),
  output: z.object({ branch: z.string(), before: z.string(), file: z.string() }),
  async run({ name, project }, context) {
    return (await (await context.state(project)).runs()).switchBranch(name);
  },
  render: ({ branch, before, file }) => ({
    body:
      before === branch
        ? t`The current session branch is ${branch}, as before (${file}).`
        : t`The current session branch is ${branch}; it was ${before} (${file}).`,
  }),
});

export const sessionDiff = defineOperation({
  name: 'session_diff',
  title: 'Compare two session branches',
  description:
    'Files that exist in only one of two session branches, and files that differ. Name archived branches by their folder.',
  effect: 'read',
  behind: { manage_project: 'session_diff' },
  command: 'session diff',
  picks: { name: 'session' },
  positional: ['name', 'against'],
  input: z.strictObject({
    name: branchField.describe('Name of the branch'),
    against: branchField.default('main').describe('The other branch'),
    project: projectField,
  }),
  output: z.object({
    branch: z.string(),
    against: z.string(),
    only_here: z.array(z.string()),
    only_there: z.array(z.string()),
    different: z.array(z.string()),
  }),
  async run({ name, against, project }, context) {
    const diff = await (await (await context.state(project)).runs()).diff(name, against);
    return {
      branch: name,
      against,
      only_here: diff.onlyHere,
      only_there: diff.onlyThere,
      different: diff.different,
    };
  },
  render: ({ branch, against, only_here: here, only_there: there, different }) => ({
    body:
      here.length + there.length + different.length === 0
        ? t`${branch} and ${against} have the same content.`
        : lines(
            listed(t`Only in ${branch}`, here),
            listed(t`Only in ${against}`, there),
            listed(t`In both, and different`, different),
          ),
  }),
});

const listed = (title: string, paths: readonly string[]): string[] => titledList(title, paths, 200);

export const sessionMerge = defineOperation({
  name: 'session_merge',
  title: 'Merge a session branch',
  description:
    'Copy the runs of a session branch into another. Nothing there is overwritten: a run that differs gets a new name.',
  effect: 'write',
  behind: { manage_project: 'session_merge' },
  command: 'session merge',
  picks: { name: 'session' },
  positional: ['name', 'into'],
  input: z.strictObject({
    name: nameField,
    into: branchField.default('main').describe('The branch that receives them'),
    force: z.boolean().default(false).describe('Include unfinished runs; they are moved, not copied'),
    project: projectField,
  }),
  output: z.object({
    branch: z.string(),
    into: z.string(),
    copied: z.array(z.string()),
    moved: z.array(z.string()),
    renamed: z.array(z.object({ from: z.string(), to: z.string() })),
    already: z.array(z.string()),
    files: z.array(z.string()),
    left: z.array(z.string()),
    notes: z.array(z.string()),
  }),
  async run({ name, into, force, project }, context) {
    return (await (await context.state(project)).runs()).merge(name, into, force);
  },
  render: ({ branch, into, copied, moved, renamed, already, files, left, notes }) => ({
    body: lines(
      merged(
        branch,
        into,
        copied.length + renamed.filter(({ to }) => !moved.includes(to)).length,
        moved.length,
      ),
      listed(t`Copied`, copied),
      listed(
        t`Renamed, because the branch has a different run with that name`,
        renamed.map(({ from, to }) => t`${from} is now ${to}`),
      ),
      listed(t`Already there`, already),
      listed(t`Other files copied`, files),
      listed(t`Not copied, because the branch has a different file with that name or it is a link`, left),
      notes,
    ),
  }),
});

function merged(branch: string, into: string, copied: number, moved: number): string {
  const also = moved === 0 ? '' : `, ${plural(moved, 'run moved', 'runs moved')}`;
  return t`Merged ${branch} into ${into}: ${plural(copied, 'run copied', 'runs copied')}${also}.`;
}

export const sessionArchive = defineOperation({
  name: 'session_archive',
  title: 'Archive a session branch',
  description:
    'Move a session branch to the archive, where its runs can still be read. "main" cannot be archived.',
  effect: 'write',
  behind: { manage_project: 'session_archive' },
  command: 'session archive',
  picks: { name: 'session' },
  removes: { question: 'Archive this session branch?', about: 'name' },
  positional: ['name'],
  input: z.strictObject({
    name: nameField,
    force: z.boolean().default(false).describe('Even with unfinished runs'),
    project: projectField,
  }),
  output: z.object({ branch: z.string(), folder: z.string(), notes: z.array(z.string()) }),
  async run({ name, force, project }, context) {
    return (await (await context.state(project)).runs()).archive(name, force);
  },
  render: ({ branch, folder, notes }) => ({ body: lines(t`Archived ${branch} in ${folder}.`, notes) }),
});
