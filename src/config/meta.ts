import * as z from 'zod';

export interface SettingMeta {
  /** The variable and the flag, where they do not follow from the name: `answerBytes` is BMAD_ANSWER_BYTES. */
  env?: string;
  flag?: string;
  /** Shown in help instead of the type; a switch has none. */
  placeholder?: string;
  /** Whether it points to folders of the machine, so that a project's own file must not set it. */
  personal?: true;
  /** A list to which every layer adds, instead of the strongest one deciding alone; written with spaces between. */
  gathers?: true;
  /** Pattern of the words that the server's command line takes for this setting without its flag. */
  bare?: string;
  /** Left out of the first help text of the command line, which has to fit on a screen. */
  rare?: true;
  /** A few words for help texts; the description says the rest. */
  summary: string;
  /** What separates the entries of a list in one text; by default, the system's separator for folders. */
  separator?: string;
  /** Whether an invalid value stops the start wherever it comes from: ignoring it would leave more switched on. */
  binding?: true;
  /** Whether it takes something away, which a project's own file may add to but not undo. */
  restricts?: true;
  /** The value that `--no-…` stands for, where there is such a flag. */
  off?: string;
  /** Whether the user's file decides before the project's: what the user has chosen is about the project. */
  yields?: true;
}

/** What the command line, the environment and the docs need to know about each setting. */
export const settingMeta = z.registry<SettingMeta>();

/** What most settings have: what stands for a value in help, the few words, and the rest. */
export const meta = (
  placeholder: string,
  summary: string,
  more: Omit<SettingMeta, 'placeholder' | 'summary'> = {},
): SettingMeta => ({ ...more, placeholder, summary });

/** For what a project's own file must not set and few people need. */
export const PERSONAL = { personal: true, rare: true } as const;

export const text = z.string().min(1);

export const intBetween = (least: number, most: number): z.ZodInt => z.int().min(least).max(most);
