/** Folders of BMAD in a project, wherever it is; those of other names are known by their manifest. */
const FOLDERS = /(?:^|\/)(?:_bmad|_grimoire|\.bmad(?:-[\w-]+)?)(?:\/|$)/i;
const MANIFEST =
  /^(.*?)\/(?:_cfg|_config)\/(?:manifest\.yaml|(?:agent|workflow|task|tool|skill|files)-manifest\.csv|bmad-help\.csv)$/;
/** What installers of BMAD put into the folders of assistants. */
const OF_ASSISTANTS =
  /(?:^|\/)\.[\w-]+\/(?:[\w-]+\/)?(?:skills|commands|agents|rules|prompts|workflows|chatmodes|tasks)\/_?bmad[^/]*/i;
/** State of this server and of the kit's programs, beside what people and agents have written. */
const STATE =
  /(?:^|\/)(?:\.(?:tasks|runs|receipts|memory)(?:\/|$)|(?:BMAD|Grimoire)_TRACE\.md$|(?:pheromone-board|dream-memory)\.json$|(?:reasoning-stream|activity)\.jsonl$)/i;

/**
 * Tells BMAD's own files and the state of this server from the user's code. They outnumber it in a small project, and a
 * search would find earlier searches.
 */
export function ownFiles(paths: readonly string[]): (path: string) => boolean {
  const roots = new Set(paths.flatMap((path) => MANIFEST.exec(path)?.[1] ?? []));
  return (path) => FOLDERS.test(path) || OF_ASSISTANTS.test(path) || STATE.test(path) || isBelow(path, roots);
}

function isBelow(path: string, roots: ReadonlySet<string>): boolean {
  if (roots.size === 0) return false;
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
    if (roots.has(path.slice(0, end))) return true;
  return false;
}
