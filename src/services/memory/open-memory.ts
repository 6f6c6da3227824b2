import type { Log } from '../../base/log.ts';
import { analyse, ANALYSER_VERSION } from '../../meaning/analyse.ts';
import type { EmbedderSettings } from '../../meaning/embedders/choose.ts';
import { readKit } from '../../kit/kit.ts';
import { KitFiles } from '../../kit/memories/read-all.ts';
import { completed, tidied } from './copies.ts';
import { createMemory, type Memory } from './memory.ts';
import { isOnQdrant, type EngineSettings } from './engine-settings.ts';
import { placeOf, userPlace } from './place.ts';
import { Sessions } from './sessions.ts';
import type { Analyser } from '../../meaning/analyser.ts';
import { moveIntoProject, type MovedMemories } from './transfer/move.ts';
import type { OpenMemory, Session } from './opened.ts';

const ANALYSER: Analyser = { id: `words-${ANALYSER_VERSION}`, terms: analyse };

export interface MemorySetup {
  /** The top of the project. */
  root: string;
  /** The user's folder for what has no place in a project. */
  state: string;
  engine: EngineSettings;
  embedder: EmbedderSettings;
  hide(text: string): string;
  log: Log;
  background: boolean;
  writes: boolean;
}

/** The memory of one project. Nothing is opened before the first question. */
export async function openMemory(setup: MemorySetup): Promise<Memory> {
  const kit = await readKit(setup.root);
  const files = new KitFiles(kit);
  const sessions = new Sessions({ ...setup, files, analyser: ANALYSER });
  const place = placeOf(kit, setup.state);
  let settled: Promise<void> | undefined;
  const ready = async (session: Session): Promise<Session> => {
    if (setup.writes) await (settled ??= completed(opened, session).then(() => tidied(opened)));
    return session;
  };
  const opened: OpenMemory = {
    writes: setup.writes,
    files,
    analyser: ANALYSER,
    folder: place.folder,
    hide: setup.hide,
    log: setup.log,
    session: async (signal) => ready(await sessions.get(signal)),
    sessionToWrite: async (signal) => ready(await sessions.toWrite(signal)),
    embedderFailed: (error) => sessions.embedderFailed(error),
  };
  return createMemory({
    opened,
    sessions,
    place,
    userFolder: userPlace(setup.root, setup.state),
    elsewhere: isOnQdrant(setup.engine),
  });
}

/** Moves a project's memories from the user's folder into the project. */
export function moveMemory({ root, state, engine }: MemorySetup): Promise<MovedMemories> {
  return moveIntoProject({ root, state, engine, analyser: ANALYSER });
}

/** What determines where a project's memory is; if this text changes, it has to be reopened. */
export async function memoryVersion(root: string): Promise<string> {
  const { app, memory, user } = await readKit(root);
  return [app, memory ?? '', user].join('\n');
}
