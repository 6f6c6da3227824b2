import app from './fr/app.json' with { type: 'json' };
import base from './fr/base.json' with { type: 'json' };
import bin from './fr/bin.json' with { type: 'json' };
import catalogue from './fr/catalogue.json' with { type: 'json' };
import cli from './fr/cli.json' with { type: 'json' };
import commander from './fr/commander.json' with { type: 'json' };
import config from './fr/config.json' with { type: 'json' };
import hosts from './fr/hosts.json' with { type: 'json' };
import kit from './fr/kit.json' with { type: 'json' };
import labels from './fr/labels.json' with { type: 'json' };
import lines from './fr/lines.json' with { type: 'json' };
import meaning from './fr/meaning.json' with { type: 'json' };
import operations from './fr/operations.json' with { type: 'json' };
import readers from './fr/readers.json' with { type: 'json' };
import services from './fr/services.json' with { type: 'json' };
import sources from './fr/sources.json' with { type: 'json' };
import { translator, type Catalogue, type Words } from './translator.ts';

/** Every French text, in files named like the folders whose texts they are. */
export const FRENCH: Catalogue = {
  ...base,
  ...config,
  ...meaning,
  ...lines,
  ...kit,
  ...hosts,
  ...sources,
  ...readers,
  ...catalogue,
  ...services,
  ...operations,
  ...commander,
  ...cli,
  ...app,
  ...bin,
};

/** Words that stand alone on a screen, such as the title of a column. In a text, a word alone is a name. */
export const LABELS: Catalogue = labels;

let known: Words | undefined;

/** Says what a person reads in French. */
export const inFrench: Words = (text) => LABELS[text] ?? (known ??= translator(FRENCH))(text);
