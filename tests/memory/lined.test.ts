import { rm } from 'node:fs/promises';
import { onTestFinished } from 'vitest';
import { sqliteDriver } from '../../src/services/memory/sqlite/database.ts';
import { temporaryFolder } from '../support/app.ts';
import { storeContract } from './contract.ts';
import { storeOptions, type Place } from './places.ts';
import { openLines, type IndexKind, type Opening } from './processes.ts';

/** Lines in a folder of their own, with the index that is asked for. */
function places(kind: IndexKind, more: Opening = {}) {
  return async (): Promise<Place> => {
    const folder = await temporaryFolder(onTestFinished);
    return {
      open: (options) => openLines(kind, folder, { ...more, options: storeOptions(options) }),
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  };
}

const old = { ...(await sqliteDriver()), version: '3.45.1', safeLog: false };

storeContract('sqlite over lines', places('sqlite'));
storeContract('sqlite without a write-ahead log', places('sqlite', { driver: old }));
storeContract('memory over lines', places('memory'), { vectorsStay: false });
