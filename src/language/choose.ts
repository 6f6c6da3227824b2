import { namedLanguage } from '../base/text/message.ts';

/** A language that the program can speak. */
export type Language = 'en' | 'fr';

/** Who may say which language a person reads, the strongest first. */
export interface Wishes {
  /** The setting, as it was given: a name, a code or a locale. */
  setting?: string | undefined;
  /** What the project's BMAD calls its communication_language. */
  project?: string | undefined;
  /** What the person wants to be spoken to in, in all projects. */
  person?: string | undefined;
  env: Readonly<Partial<Record<string, string>>>;
}

/** The language to speak; English where nobody names one that there are words for. */
export function chosenLanguage({ setting, project, person, env }: Wishes): Language {
  return (
    languageOf(setting) ?? languageOf(project) ?? languageOf(person) ?? languageOf(localeIn(env)) ?? 'en'
  );
}

/** The language that a name, a code or a locale stands for; nothing for one that there are no words for. */
export function languageOf(name: string | undefined): Language | undefined {
  const named = name === undefined ? undefined : namedLanguage(name.trim());
  return named === undefined ? undefined : named === 'French' ? 'fr' : 'en';
}

/** As the C library does it: the first of these that is set counts, whatever it is set to. */
function localeIn(env: Wishes['env']): string | undefined {
  return env['LC_ALL'] || env['LC_MESSAGES'] || env['LANG'] || undefined;
}
