import { type Said, t } from '../base/text/message.ts';
import { basename, dirname, join, resolve } from 'node:path';
import { once } from '../base/async.ts';
import { BmadError } from '../base/errors.ts';
import { readInside, realFolder } from '../base/files/files.ts';
import { KEPT_TOKEN_FILE } from '../config/locations.ts';
import { settings as allSettings } from '../config/schema.ts';
import type { Context } from '../operations/context.ts';
import { TOOLS } from '../operations/declared.prepared.ts';
import { checkToolNames, chooseTools, type ToolChoice } from '../operations/toolsets.ts';
import { customAgents, installedVersion, type Project } from '../sources/project-root.ts';
import { createParts, type Parts } from './parts.ts';
import { type Outside, readSettings, type Settings } from './settings.ts';

export type { Outside };

/** The composition root: reads the configuration and puts the parts together. Heavy parts load on first use. */
export async function createContext(
  outside: Outside,
  read: Promise<Settings> = readSettings(outside),
): Promise<Context> {
  const settings = await read;
  const { config, from, warnings, log } = settings;
  const parts = await createParts(settings);
  warnings.push(...parts.gitSources.warnings());
  const tracing = config.traces ? await tracingOr(warnings, from.traces) : undefined;
  for (const warning of warnings) log.warn(warning);
  const settingKeys = Object.fromEntries(allSettings().map(({ name, fileKey }) => [name, fileKey]));
  const tools = chooseTools(TOOLS, { config, configFrom: from, settingKeys });
  await checkNamedTools(tools, parts);
  // Only now, so that a start that fails leaves nothing running.
  parts.gitSources.begin(
    () =>
      void parts.workspaces
        .refresh()
        .catch((error: unknown) => log.info('refresh', { error: String(error) })),
  );
  return { ...contextOf(settings, parts), settingKeys, tools, tracing, worded: await wordingFor(settings) };
}

/** Only a tool that is named and not a fixed one needs the content to be read at the start. */
async function checkNamedTools(tools: ToolChoice, { workspaces }: Parts): Promise<void> {
  if (tools.unsettled.length === 0) return;
  const workspace = await workspaces.get();
  // A name may be one of a git source that is still to come.
  if (workspace.absent.length > 0) return;
  const { loadAgentTools } = await import('../operations/on-demand.ts');
  const { agentToolNames } = await loadAgentTools();
  checkToolNames(tools, [...agentToolNames(workspace, { tools }).keys()]);
}

function contextOf(
  settings: Settings,
  { gitSources, team, rankings, roots, workspaces, watching, codebases, memories, projectState }: Parts,
): Omit<Context, 'settingKeys' | 'tools' | 'tracing' | 'worded'> {
  const { outside, config, from, warnings, log, secrets, cache, privateFolders } = settings;
  /** Which project is meant without a name may depend on what the client says. */
  async function settled(project: string | undefined): Promise<string | undefined> {
    if (project === undefined) await roots.known;
    return project;
  }
  const projectOf = async (project?: string): Promise<Project> =>
    stillThere(await workspaces.project(await settled(project)));
  return {
    config,
    configFrom: from,
    configWarnings: warnings,
    // On whose machine a caller of a server for others sits, nobody knows.
    ownProgram: outside.forOthers === true ? undefined : outside.ownProgram,
    log,
    secrets,
    workspace: async (project) => workspaces.get(await settled(project)),
    async refresh(project) {
      await settled(project);
      await gitSources.retry();
      return workspaces.refresh(project);
    },
    onChange: (listener) => workspaces.onChange(listener),
    onMoved: (listener) => watching.onMoved(listener),
    watching: () => watching.report(),
    stay: () => watching.stay(),
    offerRoots: (folders) => roots.offer(folders, () => workspaces.lookAgain()),
    async describeProject() {
      try {
        await settled(undefined);
        return (await workspaces.get()).project;
      } catch (error) {
        return { root: undefined, from: error instanceof BmadError ? error.message : t`it cannot be opened` };
      }
    },
    diagnosis: once(async () => {
      const { createDiagnosis } = await import('../services/diagnosis/diagnosis.ts');
      const { tokenFaults } = await import('../config/token-file.ts');
      const { httpTokenFile } = config;
      const given = httpTokenFile === undefined ? undefined : resolve(outside.cwd, httpTokenFile);
      return createDiagnosis({
        tokens: () => tokenFaults(given, join(settings.state, KEPT_TOKEN_FILE)),
        command: outside.serverCommand,
        cwd: outside.cwd,
        env: outside.env,
        privateFolders,
        cache,
      });
    }),
    changePreferred: async (change) => (await import('./host-setup.ts')).changePreferred(settings, change),
    hostSetup: once(async () => (await import('./host-setup.ts')).hostSetup(settings)),
    codebase: codebases.of,
    gitSources: team,
    readFolder: async (folder) => (await import('./open-workspace.ts')).readFolder(folder),
    memory: async (mayWrite) => (await projectState(await projectOf())).memory(mayWrite),
    async prepareRecall(pause) {
      const project = await projectOf();
      if (project.root !== undefined) await (await projectState(project)).prepareRecall(pause);
    },
    state: async (project) => projectState(await projectOf(project)),
    decisions: async () => (await import('./project-state.ts')).decisionBook(settings),
    again: once(async () => {
      const { openAgain, requestFiles } = await import('../services/calls/again.ts');
      return openAgain(requestFiles(settings.state));
    }),
    audit: once(async () => {
      const { openAudit } = await import('../services/calls/audit.ts');
      if (config.state === undefined) return openAudit(settings.state, { log });
      const { teamAudit } = await import('./project-state.ts');
      return openAudit(settings.state, { log, shared: () => teamAudit(settings) });
    }),
    usage: async (project) => rankings.usage(await workspaces.project(await settled(project))),
    reranker: rankings.reranker,
    delegation: once(async () => {
      const { createDelegation } = await import('../services/delegation/delegation.ts');
      return createDelegation({
        depth: config.delegateDepth,
        rounds: config.delegateRounds,
        tokens: config.delegateTokens,
        answerTokens: config.delegateAnswer,
        timeMs: config.delegateSeconds * 1_000,
      });
    }),
    async memoriesAnswer() {
      // What it was last is remembered: where it cannot be reached, readers are served from what is known.
      await settings.team
        .get()
        .then((database) => database?.reach())
        .catch(() => undefined);
      return memories.answer();
    },
    stateTrouble: () => settings.team.trouble(),
    async readUserFile(path) {
      if (outside.forOthers === true)
        throw new BmadError('forbidden', t`Files on this machine can only be read from its command line.`);
      const place = resolve(outside.cwd, path);
      // Named by the user at the command line, who can read it anyway.
      const rules = { secrets: 'mine' } as const;
      return (await readInside(dirname(place), basename(place), config.maxFileBytes, rules)).toString('utf8');
    },
    appPage: async () =>
      (await readInside(dirname(outside.contentRoot), 'app/board.html', APP_BYTES)).toString('utf8'),
    close() {
      watching.close();
      memories.close();
      codebases.stop();
      gitSources.close();
      settings.team.close();
    },
  };
}

/** Hosts take no larger page. */
const APP_BYTES = 200_000;

/** What the server says of itself has the names of the BMAD and the agents that the project has; most have none, or those of today. */
async function wordingFor({ root }: Settings): Promise<Context['worded']> {
  const version = root === undefined ? undefined : await installedVersion(root);
  const own = root === undefined ? [] : await customAgents(root);
  if (version === undefined && own.length === 0) return (text) => text;
  const { wordingOf } = await import('../operations/generation-words.ts');
  return wordingOf(version, own);
}

/** A folder that is gone would be made again by whatever is written into it, and hold nothing else. */
async function stillThere(project: Project): Promise<Project> {
  const { root } = project;
  if (root === undefined || (await realFolder(root)) !== undefined) return project;
  throw new BmadError('unavailable', t`The project folder ${root} no longer exists.`, {
    subject: root,
    hint: t`Restore the folder, or start the server in another project. Nothing was written.`,
  });
}

/** Without the package everything else works; that it is missing is reported like any other fault of the settings. */
async function tracingOr(warnings: string[], asked: Said): Promise<Context['tracing']> {
  const { openTracing, TRACING_PACKAGE } = await import('../base/process/tracing.ts');
  const tracing = openTracing();
  if (tracing === undefined)
    warnings.push(
      t`traces (${asked}): the package ${TRACING_PACKAGE} is not installed, so no spans are recorded. Install it beside the server.`,
    );
  return tracing;
}
