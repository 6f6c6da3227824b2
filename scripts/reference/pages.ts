import { cliPage } from './cli.ts';
import { libraryPage } from './library.ts';
import { configPage, errorsPage, limitsPage, nextRulesPage } from './limits.ts';
import { promptsAndResourcesPage } from './prompts-and-resources.ts';
import { httpApiPage, toolsPage } from './tools.ts';

/** The pages of docs/reference by file name. Nothing of the machine they are made on may show in them. */
export const REFERENCE: Readonly<Record<string, () => string[] | Promise<string[]>>> = {
  'tools.md': toolsPage,
  'cli.md': cliPage,
  'config.md': configPage,
  'errors.md': errorsPage,
  'http-api.md': httpApiPage,
  'library.md': libraryPage,
  'limits.md': limitsPage,
  'next-rules.md': nextRulesPage,
  'prompts-and-resources.md': promptsAndResourcesPage,
};
