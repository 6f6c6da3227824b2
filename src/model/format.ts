import { basename, dirname } from 'node:path/posix';

interface FormatBehaviour {
  /** The record is its folder: with a SKILL.md, a name of its own, and settings that a project may override. */
  isSkill?: true;
  /** How an agent writes down who it is: in tags, in a block of YAML, or (if nothing is said) under headings. */
  persona?: 'tags' | 'yaml';
  /** An agent that does its work by commands: `*create-story`. */
  takesCommands?: true;
  /** Customization was compiled into the file; what is edited later has no effect before the next install. */
  isCompiled?: true;
  /** Runs by BMAD's workflow engine, and names its instructions and template in keys. */
  needsEngine?: true;
  /** Names other files by the folders of version 4: `{type}/{name}`. */
  pathsByFolder?: true;
  /** The record is this one file, whatever lies beside it. */
  isAlone?: true;
  /** What lies beside the file does not belong to it when it is delivered. */
  isDeliveredAlone?: true;
}

/**
 * What kind of file the main file of a record is, and all that follows from it. Nothing else compares formats, so that a
 * new one is a line here.
 */
const FORMATS = {
  /** A skill folder. */
  skill: { isSkill: true },
  /** An agent compiled to XML in Markdown. */
  'compiled-agent': { persona: 'tags', isCompiled: true },
  'workflow-yaml': { needsEngine: true },
  /** A workflow in Markdown with steps. */
  'workflow-md': {},
  'v4-agent': { persona: 'yaml', takesCommands: true, pathsByFolder: true, isDeliveredAlone: true },
  'v4-workflow': { pathsByFolder: true, isAlone: true, isDeliveredAlone: true },
  /** A workflow of the custom kit: one file among others of its folder. */
  'kit-workflow': { isAlone: true, isDeliveredAlone: true },
  /** A task or tool in XML. */
  xml: { isAlone: true, isDeliveredAlone: true },
  /** Any other document. */
  document: { isAlone: true },
} as const satisfies Record<string, FormatBehaviour>;

export type RecordFormat = keyof typeof FORMATS;

export function behaviourOf({ format }: { format: RecordFormat }): FormatBehaviour {
  return FORMATS[format];
}

/** Whether the folder of a workflow's main file is one of many workflows side by side, and not its own. */
export function sharesItsFolder({ bmadRelativePath }: { bmadRelativePath: string }): boolean {
  return ['workflows', '.'].includes(basename(dirname(bmadRelativePath)));
}

/** Where the instructions of a workflow in YAML may be that names none: beside it, unless it shares its folder. */
export function instructionsBeside(record: { bmadRelativePath: string }): string[] {
  if (sharesItsFolder(record)) return [];
  const folder = dirname(record.bmadRelativePath);
  return ['md', 'xml'].map((suffix) => `${folder}/instructions.${suffix}`);
}
