import { readState, writeAtomic } from '../base/files/file-state.ts';
import { formatToml, parseToml, textField } from '../base/parse/parse.ts';

/** Who works with the agents, by BMAD's own names for it. */
export interface Person {
  user_name?: string;
  communication_language?: string;
}

const PERSON_KEYS = ['user_name', 'communication_language'] as const;

/** What the user has said for all projects; nothing where nothing was said. */
export async function readPerson(file: string): Promise<Person> {
  const text = await readState(file);
  if (text === undefined) return {};
  const table = parseToml(file, text);
  return Object.fromEntries(
    PERSON_KEYS.flatMap((key) => {
      const value = textField(table, key)?.trim() ?? '';
      return value === '' ? [] : [[key, value] as const];
    }),
  );
}

export async function writePerson(file: string, person: Person): Promise<void> {
  const known = await readPerson(file).catch(() => ({}));
  await writeAtomic(
    file,
    `# Used in every project that does not set them itself.\n${formatToml({ ...known, ...person })}`,
    { mode: 0o600 },
  );
}

interface Layer {
  file: string;
  values: Readonly<Record<string, { value: string; line?: number; file?: string }>>;
}

/** Settings with these as the weakest, below what the project's own weakest layer says. */
export async function withPerson<T extends { memory: Layer | undefined }>(kit: T, file: string): Promise<T> {
  // One that cannot be read says nothing.
  const entries = Object.entries(await readPerson(file).catch((): Person => ({})));
  const said = entries.filter(([key]) => kit.memory?.values[key] === undefined);
  if (said.length === 0) return kit;
  const own = Object.fromEntries(said.map(([key, value]) => [key, { value: String(value), file }]));
  return { ...kit, memory: { file, ...kit.memory, values: { ...own, ...kit.memory?.values } } };
}
