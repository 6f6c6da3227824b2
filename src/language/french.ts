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
import page from './fr/page.json' with { type: 'json' };
import readers from './fr/readers.json' with { type: 'json' };
import services from './fr/services.json' with { type: 'json' };
import sources from './fr/sources.json' with { type: 'json' };
import type { Catalogue } from '../base/text/message.ts';

/** Every French text, in files named like the folders whose texts they are, with the words for states and columns. */
export const FRENCH: Catalogue = {
  ...labels,
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
  ...page,
};
