/** The product's names, written once. Everything a person reads takes them from here. */
export const PRODUCT = 'BMAD MCP Server';
export const SERVER_PROGRAM = 'bmad-mcp-server';
export const CLI_PROGRAM = 'bmad';

/** The key hosts file the server under, and the name of its one unified tool. */
export const SERVER_KEY = 'bmad';

/** Sets of tools that are switched on and off together, and that a token can be bounded to. */
export const TOOLSETS = ['bmad', 'workflows', 'agents', 'project', 'memory'] as const;

/** Folder name for the user's configuration and caches. */
export const STATE_FOLDER = 'bmad-mcp-server';

/** Beside the user's configuration: what the user is called and spoken to in, in every project that does not say so itself. */
export const PERSON_FILE = 'user.toml';

/** What marks a project of BMAD, of any version: what an installer makes, the more telling first, and what agents produce. */
export const BMAD_FOLDERS = ['_bmad', '.bmad-core', 'bmad/_cfg', '.bmad/_cfg', '_grimoire'];
/** The folders of the two families of the kit, and those of what their agents produce. */
export const FAMILY_FOLDERS = ['_bmad', '_grimoire'] as const;
export const OUTPUT_FOLDERS = FAMILY_FOLDERS.map((folder) => `${folder}-output`);
/** The usual names of the folder of an install since version 6; others count only when they have a manifest. */
export const ROOT_FOLDERS: readonly string[] = ['_bmad', 'bmad', '.bmad', '_grimoire'];

/** A test holds this equal to package.json, so that nothing has to read package.json at run time. */
export const VERSION = '0.1.0';
