import { Database } from '../../src/base/postgres/postgres.ts';
import { projectKey } from '../../src/base/files/paths.ts';
import { ProjectLogs } from '../../src/kit/project-log.ts';
import { StateDatabase } from '../../src/services/shared-state/shared-state.ts';

/**
 * Where the lines of projects are in tests that run on files and on PostgreSQL: the project `on-postgres` of vitest.config.ts
 * has the same files as the others, and one database, in which each folder is a project of its own.
 */
const address = process.env['BMAD_TEST_ON'] === 'postgres' ? process.env['BMAD_TEST_DATABASE'] : undefined;

/** What a test says about files of lines is not about those in a database. */
export const isOnDatabase = address !== undefined;

/** What a server for a folder is told in its environment. */
export function teamEnv(folder: string): Record<string, string> {
  return address === undefined ? {} : { BMAD_STATE: address, BMAD_PROJECT_KEY: projectKey(folder) };
}

/** The lines of a project about a noun as they are stored, the oldest first; with `edit`, something else is made of them. */
export async function teamLines(
  folder: string,
  noun: string,
  edit?: (lines: readonly string[]) => readonly string[],
): Promise<readonly string[]> {
  const database = await Database.at(address ?? '');
  const [found] = await database.query<{ id: string }>('select id from bmad.project where key = $1', [
    projectKey(folder),
  ]);
  const id = found?.id ?? '0';
  const own = 'from bmad.line where project = $1 and noun = $2';
  const rows = await database.query<{ body: string }>(`select body ${own} order by rev`, [id, noun]);
  const lines = rows.map(({ body }) => body);
  if (edit !== undefined) {
    await database.query(`delete ${own}`, [id, noun]);
    for (const body of edit(lines))
      await database.query(
        `with moved as (update bmad.project set rev = rev + 1 where id = $1 returning rev)
        insert into bmad.line (project, rev, noun, entity, id, machine, caller, at, body)
        select $1, rev, $2, '{}', rev || '', '', '', now(), $3 from moved`,
        [id, noun, body],
      );
  }
  await database.close();
  return lines;
}

/** The logs of a project, as a process has them that has just begun. */
export async function teamLogs(folder: string): Promise<ProjectLogs> {
  if (address === undefined) return new ProjectLogs();
  return new ProjectLogs(await StateDatabase.at(address, () => projectKey(folder)));
}
