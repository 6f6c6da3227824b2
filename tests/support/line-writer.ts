import { LineFiles } from '../../src/lines/files.ts';

/** A process that writes lines one after the other and tells the id of each when it is safe: to be killed without warning. */
const [, , folder = '', mirror = '', count = '0', name = 'w'] = process.argv;
const files = new LineFiles(
  { folder, mirror: mirror === '' ? undefined : mirror, isPrivate: true },
  { machine: () => Promise.resolve(name), by: { kind: 'local', name } },
);
for (let at = 0; at < Number(count); at += 1) {
  const made = await files.append([
    { of: `note/${name}-${at}`, after: [], do: 'note', data: { text: 'x'.repeat(300) } },
  ]);
  if ('line' in made) process.stdout.write(`${made.line.id}\n`);
}
