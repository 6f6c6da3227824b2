import { BmadError } from '../base/errors.ts';
import { type Database, isUncertain, unreachable } from '../base/postgres/postgres.ts';
import { t } from '../base/text/message.ts';

/** A project in a database: the row that its lines hang on. */
export interface SharedProject {
  database: Database;
  id: number;
}

export const projectGone = (shown: string): BmadError =>
  new BmadError('unavailable', t`The database ${shown} no longer has this project.`, {
    reason: 'database',
    hint: t`It may have been restored from a backup or created again. Restart the server.`,
  });

const MOVED = 'moved-to-files/';

/** Its lines stay, and nobody goes on there by mistake. */
export async function closeProject({ database, id }: SharedProject): Promise<void> {
  await database.query('update bmad.project set fingerprint = $2 || fingerprint where id = $1', [id, MOVED]);
}

/** Lines come back to a project that was moved away. */
async function reopened({ database, id }: SharedProject): Promise<void> {
  await database.query('update bmad.project set fingerprint = substr(fingerprint, $2) where id = $1', [
    id,
    MOVED.length + 1,
  ]);
}

/** The row of a project by its key. Another project of the same name is refused until somebody says which is meant. */
export async function openProject(
  database: Database,
  key: string,
  fingerprint: string,
  again = false,
): Promise<SharedProject> {
  const find = (): Promise<{ id: string; fingerprint: string }[]> =>
    database.read('select id, fingerprint from bmad.project where key = $1', [key]);
  let [found] = await find();
  if (found === undefined) {
    await database
      .query('insert into bmad.project (key, fingerprint) values ($1, $2) on conflict (key) do nothing', [
        key,
        fingerprint,
      ])
      .catch((error: unknown) => {
        throw isUncertain(error) ? unreachable(database.shown, error) : error;
      });
    [found] = await find();
  }
  if (found === undefined) throw projectGone(database.shown);
  const project = { database, id: Number(found.id) };
  if (found.fingerprint.startsWith(MOVED)) {
    if (!again)
      throw new BmadError(
        'conflict',
        t`The project ${key} was moved from the database ${database.shown} to files.`,
        {
          subject: key,
          reason: 'database',
          hint: t`Take the setting state away, or move the lines back.`,
          steps: [{ operation: 'state_move', args: { to: '…' }, why: t`Move them back` }],
        },
      );
    await reopened(project);
    return openProject(database, key, fingerprint);
  }
  // One that had no commit yet is the same project when it has one.
  if (found.fingerprint === '' && fingerprint !== '')
    await database.query("update bmad.project set fingerprint = $2 where id = $1 and fingerprint = ''", [
      project.id,
      fingerprint,
    ]);
  else if (fingerprint !== '' && found.fingerprint !== fingerprint)
    throw new BmadError('conflict', t`The database ${database.shown} has another project called ${key}.`, {
      subject: key,
      reason: 'database',
      hint: t`Their first commits differ. If this is a fork, give it another name with the setting projectKey (BMAD_PROJECT_KEY) of a server that is started in it.`,
    });
  return project;
}
