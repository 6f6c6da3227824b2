import type { KitStack, ListedPath } from '../../kit/stacks.ts';

/** A program with its arguments, as the built-in contract runs it. */
export interface PlannedCommand {
  stack: KitStack;
  /** As a person would type it. */
  shown: string;
  program: string;
  args: readonly string[];
  /** Below the folder that is verified. */
  folder?: string;
  /** Its failure is told and does not count. */
  advisory?: true;
  env?: Readonly<Record<string, string>>;
  /** What is missing when it ends this way: then it has verified nothing, instead of having failed. */
  missing?(code: number, output: string): string | undefined;
}

/** Something without which a stack cannot be verified, and what to do about it. */
export interface Lack {
  stack: KitStack;
  what: string;
  /** Its command ran and found no tests. */
  untested?: true;
}

export interface StackPlan {
  commands: PlannedCommand[];
  lacks: Lack[];
}

/** What the plans may ask about the folder and the machine. */
export interface Surroundings {
  listing: readonly ListedPath[];
  /** The text of a file of the folder; nothing when it is not there. */
  text(path: string): Promise<string | undefined>;
  /** The place of a program on the PATH. */
  program(name: string): Promise<string | undefined>;
  /** A file in the folder or in one above it, up to the project's top: its absolute path. */
  upwards(path: string): Promise<string | undefined>;
  /** The Node that runs npm and the tools of a project. */
  node: string;
  platform: NodeJS.Platform;
}

export type Planner = (around: Surroundings) => Promise<StackPlan>;

export const has = ({ listing }: Surroundings, pattern: RegExp): boolean =>
  listing.some(({ path }) => pattern.test(path));

/** Commands of one stack, of which those whose program is missing are left out. */
export async function installed(
  { program }: Surroundings,
  stack: KitStack,
  wanted: readonly (Omit<PlannedCommand, 'stack' | 'program' | 'shown'> & { name: string })[],
): Promise<PlannedCommand[]> {
  const found: PlannedCommand[] = [];
  for (const { name, ...rest } of wanted) {
    const place = await program(name);
    if (place !== undefined)
      found.push({ stack, program: place, shown: [name, ...rest.args].join(' '), ...rest });
  }
  return found;
}
