import { join } from 'node:path';
import { afterAll } from 'vitest';
import { activate } from '../../src/operations/activation/activate.ts';
import { doctor } from '../../src/operations/server/doctor.ts';
import { list } from '../../src/operations/catalogue/list.ts';
import { temporaryFolder } from './app.ts';
import { writeFiles } from './folders.ts';
import { openSession, type Session } from './operations.ts';

/** Knowledge that a skill brings along. */
export function knowledge(path: string): Record<string, string> {
  return {
    [`${path}/resources/kb-index.csv`]:
      'id,name,description,tags,fragment_file\nflaky,Flaky,Why,x,k/flaky.md\n',
    [`${path}/resources/k/flaky.md`]: `Flaky tests, says ${path}\n`,
  };
}

export const loose = (name: string, text: string): string =>
  `---\nname: ${name}\ndescription: Is ${name}\n---\n\n${text}\n`;

/** The application with one repository named by its path, whose own things are listed and started. */
class Repository {
  readonly session: Session;
  readonly folder: string;

  constructor(session: Session, folder: string) {
    this.session = session;
    this.folder = folder;
  }

  /** `kind module/name` of everything that is not built in. */
  async things(): Promise<string[]> {
    const found: string[] = [];
    for (const what of ['agents', 'workflows', 'skills', 'knowledge']) {
      const { data } = await this.session.ok(list, { what, detail: 'full' });
      const items = data['items'] as { kind: string; module: string; name: string }[];
      for (const { kind, module, name } of items)
        if (!['core', 'bmm'].includes(module))
          found.push(`${kind} ${name.includes('/') ? name : `${module}/${name}`}`);
    }
    return found.sort();
  }

  async started(name: string): Promise<string> {
    return String((await this.session.ok(activate, { name })).data['text']);
  }

  async warnings(): Promise<string[]> {
    const { data } = await this.session.ok(doctor, { handshake: false });
    return (data['warnings'] as string[]).map((text) => text.replace(`Path ${this.folder}: `, ''));
  }

  async modules(): Promise<Record<string, unknown>[]> {
    return (await this.session.ok(list, { what: 'modules', detail: 'full' })).data['items'] as Record<
      string,
      unknown
    >[];
  }
}

export async function repository(files: Record<string, string>, name = 'team'): Promise<Repository> {
  const folder = join(await temporaryFolder(afterAll), name);
  await writeFiles(folder, { '.git/config': 'url = https://ada:secret@example.org\n', ...files });
  return new Repository(await openSession(afterAll, { flags: { paths: [folder] } }), folder);
}
