import { makeIndex } from '../../src/services/memory/open.ts';
import { partsOf } from './processes.ts';
import { storeOptions } from './places.ts';

/** A process that makes the index of lines, as the server's thread does, and says how far it is: `index-maker FOLDER`. */
const [folder = ''] = process.argv.slice(2);
const { lines, index } = partsOf(folder);
const place = { folder: lines, isPrivate: false };
const { project } = storeOptions();
await makeIndex(
  { place, path: index, journal: 'auto', project, writes: true },
  new AbortController().signal,
  (taken) => process.stdout.write(`${taken}\n`),
);
