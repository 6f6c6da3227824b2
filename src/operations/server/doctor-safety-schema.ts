import * as z from 'zod';

/** What a careful person asks before working in a project that somebody else has written. */
export const safetySchema = z.object({
  /** What the project's completion contract would start, in lines; none if there is nothing to start. */
  programs: z.array(z.string()),
  /** Whether a person has allowed that on this machine. */
  allowed: z.boolean(),
  /** Where content comes from that is neither the project's own nor built in. */
  outside: z.array(z.string()),
  /** Built-in agents and workflows in whose place something else is served. */
  replaced: z.array(z.string()),
  /** Files with hidden characters, and names that look like others. */
  disguised: z.int(),
  /** The user's own folders that others on this machine may read. */
  open: z.array(z.string()),
  /** Stores that are damaged, newer or unreadable. */
  stores: z.array(z.string()),
});

export type Safety = z.output<typeof safetySchema>;
