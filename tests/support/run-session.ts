import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Outside } from '../../src/app/app.ts';
import { runOpen } from '../../src/operations/runs/run-operations.ts';
import { writeFiles } from './kit-project.ts';
import { openSession, type Session } from './operations.ts';
import { RUN_FILES } from './run-project.ts';

export interface RunSession extends Session {
  /** Opens a run of a workflow and gives its id. */
  open(workflow: string, more?: object): Promise<string>;
  text(path: string): Promise<string>;
}

/** The real application in a project with runs, or with the files given. */
export async function runSession(
  onEnd: Parameters<typeof openSession>[0],
  { files = RUN_FILES, ...outside }: Partial<Outside> & { files?: Readonly<Record<string, string>> } = {},
): Promise<RunSession> {
  const session = await openSession(onEnd, outside);
  await writeFiles(session.folder, files);
  return {
    ...session,
    async open(workflow, more = {}) {
      const { data } = await session.ok(runOpen, { workflow, ...more });
      return (data['run'] as { run_id: string }).run_id;
    },
    text: (path) => readFile(join(session.folder, path), 'utf8'),
  };
}
