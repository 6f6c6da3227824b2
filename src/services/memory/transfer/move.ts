import { BmadError } from '../../../base/errors.ts';
import { ensureFolder, setAside } from '../../../base/files/file-state.ts';
import { isOnQdrant, openConfigured } from '../open.ts';
import type { MemoryEntry, MemoryType } from '../../../model/memory.ts';
import { readKitAgents } from '../../../kit/agents.ts';
import { kitInProject } from '../../../kit/home.ts';
import { strayPart, type Kit } from '../../../kit/kit.ts';
import { writeKitFiles } from '../../../kit/memories/write.ts';
import type { MemorySetup } from '../memory.ts';
import { isUsed, placeOf, preparePlace, userPlace } from '../place.ts';
import type { Analyser } from '../../../meaning/analyser.ts';
import { allEntries, copyAll } from './transfer.ts';

interface Move extends Pick<MemorySetup, 'root' | 'state' | 'engine'> {
  analyser: Analyser;
}

export interface MovedMemories {
  count: number;
  from: string;
  to: string;
  /** Where the old folder is now, complete; none of it is deleted. */
  kept: string | undefined;
}

/** Brings the memories of a project from the user's folder into the project itself, whose folder for them it makes. */
export async function moveIntoProject({ root, state, engine, analyser }: Move): Promise<MovedMemories> {
  if (isOnQdrant(engine))
    throw new BmadError('invalid_input', 'The memories are on a Qdrant server; there is no file to move.', {
      steps: [
        {
          operation: 'memory_export',
          args: { format: 'jsonl' },
          why: 'To take them elsewhere, export them',
        },
        { operation: 'memory_import', open: ['file'], why: 'Then import them there' },
      ],
    });
  const from = userPlace(root, state);
  const kit = await kitInProject(root);
  if (!(await isUsed(from))) {
    throw new BmadError('not_found', `There are no memories of this project in ${from}.`, {
      hint:
        kit.memory === undefined || !(await isUsed(placeOf(kit, state).folder))
          ? 'Nothing has been remembered yet.'
          : `This project’s memories are already in ${kit.memory}.`,
    });
  }
  const place = placeOf(kit, state);
  // The old folder is set aside at the end: were it the new one too, the memories would be gone.
  if (kit.memory === undefined || place.folder === from) throw outside(await strayFolder(kit));
  await ensureFolder(kit.memory, root);
  await preparePlace(place);
  const options = { project: kit.app, analyser };
  const source = await openConfigured(engine, from, options);
  const target = await openConfigured(engine, place.folder, options);
  try {
    const count = await copyAll(source, target);
    const agents = await readKitAgents(kit);
    const all = (await allEntries(target, {})).toReversed();
    const living = (type: MemoryType): Promise<MemoryEntry[]> =>
      Promise.resolve(all.filter((entry) => entry.type === type));
    for (const entry of all)
      await writeKitFiles({ kit, agents, locks: place.folder, living }, entry, { mode: 'local' });
    await source.close();
    return { count, from, to: place.folder, kept: await setAside(from) };
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
}

async function strayFolder({ root, folder }: Kit): Promise<string> {
  const path = `${folder}-output/.memory`;
  return (await strayPart(root, path)) ?? path;
}

function outside(path: string): BmadError {
  return new BmadError('forbidden', `${path} is not a folder inside the project; nothing was moved.`, {
    subject: path,
    hint: `Replace ${path} with a real folder, then try again. The memories have not moved.`,
  });
}
