import { BmadError } from '../../base/errors.ts';
import { ours } from '../../base/expected.ts';
import { agentTitled, titlesOf } from '../../base/text/agent-titles.ts';
import { nameKey } from '../../base/text/same-name.ts';
import type { Context } from '../context.ts';
import {
  checkedAgent,
  colleaguesOf,
  meantAgent,
  namedAgent,
  plainNames,
  type MeantAgent,
} from './agent-names.ts';

/** The names under which logs and memories of an agent are written and found. */

/**
 * Whose memories are meant, under every name they may be kept by: two agents of a project may share a name, what it calls
 * one may be BMAD's, and other tools keep memories under a role or a tag.
 */
export async function rememberedAgent(
  raw: string,
  context: Context,
  project: string | undefined,
): Promise<{ ids: string[]; names: string[] }> {
  const workspace = await context.workspace(project);
  checkedAgent(workspace.catalogue.names.apart(raw).name);
  return withColleagues(raw, await meantAgent(raw, workspace, context, project), context, project);
}

async function withColleagues(
  raw: string,
  { handle, names }: MeantAgent,
  context: Context,
  project: string | undefined,
): Promise<{ ids: string[]; names: string[] }> {
  const keys = new Set([raw, ...names].map((name) => nameKey(name.trim())));
  const same = (await colleaguesOf(context, project)).filter((colleague) =>
    colleague.names.some((name) => keys.has(nameKey(name))),
  );
  const own = same.filter(({ names: known }) => known.some((name) => nameKey(name) === nameKey(raw.trim())));
  const ids = (own.length > 0 ? own : same).map(({ id }) => id);
  return {
    ids: ids.length > 0 ? ids : [handle],
    names: plainNames([...ids, raw.trim(), ...names, ...same.flatMap((each) => each.names)]),
  };
}

/** With the roles of an agent, which other tools keep memories under; there are too many to be told. */
export const withRoles = ({ names }: { names: readonly string[] }): string[] => [
  ...new Set([...names, ...names.flatMap(titlesOf)]),
];

/** The names to look for in memories; one that nobody has is looked for as it is. */
export async function namesToRecall(
  raw: string | undefined,
  context: Context,
  project: string | undefined,
): Promise<string[] | undefined> {
  if (raw === undefined) return undefined;
  const workspace = await context.workspace(project);
  const meant = await namedAgent(raw, workspace, context, project).catch(ours((error) => error, 'ambiguous'));
  if (meant instanceof BmadError) return [raw];
  return withRoles(await withColleagues(raw, meant, context, project));
}

/**
 * The name that something is logged under: that of the agent it stands for. Agents may be new, and a name that several have
 * is logged as it is.
 */
export async function loggedAs(
  raw: string,
  context: Context,
  project: string | undefined,
  subject = 'agent',
): Promise<string> {
  const workspace = await context.workspace(project);
  const name = checkedAgent(workspace.catalogue.names.apart(raw).name, subject);
  const meant = await namedAgent(raw, workspace, context, project).catch(ours((error) => error, 'ambiguous'));
  return meant instanceof BmadError ? name : meant.handle;
}

/**
 * The name that a memory is kept under. Its id is made of it, and other tools make the same, so it stays as it is, unless it
 * is a role or has a module before it.
 */
export async function keptAs(raw: string, context: Context, project: string | undefined): Promise<string> {
  const { module } = (await context.workspace(project)).catalogue.names.apart(raw);
  return module === undefined && agentTitled(raw) === undefined ? raw : loggedAs(raw, context, project);
}
