import { t } from '../base/text/message.ts';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Outside } from '../app/app.ts';
import { ours } from '../base/expected.ts';
import { writeAtomic } from '../base/files/file-state.ts';
import { programsBesides } from '../base/files/find-program.ts';
import { startProgram } from '../base/process/start-program.ts';

const FILE = 'page-open.html';

/** What opens an address with the browser of the user. */
function openerOf(platform: NodeJS.Platform): readonly [program: string, ...args: string[]] {
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return ['xdg-open'];
}

/**
 * Opens a link that lets in anyone who has it. Lists of processes show arguments to all users of a machine, so the browser is
 * given a file that only this user can read, and the link is in there. Answers with what went wrong.
 */
export async function openInBrowser(
  link: string,
  state: string,
  { platform, env }: Pick<Outside, 'platform' | 'env'>,
  besides: readonly string[],
): Promise<string | undefined> {
  const file = join(state, FILE);
  await writeAtomic(
    file,
    `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${link}"><title>BMAD</title><p><a href="${link}">Open the page</a></p>\n`,
    { mode: 0o600 },
  );
  const [name, ...args] = openerOf(platform);
  const programs = await programsBesides({ env, besides });
  const started = await programs
    .required(name)
    // It starts a browser by its name.
    .then((program) => startProgram(program, [...args, pathToFileURL(file).href], { env: programs.env }))
    .catch(ours(({ message }) => message));
  if (typeof started === 'string') return t`${started} Open the link yourself.`;
  started.child.unref();
  return undefined;
}
