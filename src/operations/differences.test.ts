import { expect, it } from 'vitest';
import { record } from '../../tests/support/records.ts';
import { differencesOf } from './differences.ts';

const of = (...given: Parameters<typeof record>[0][]): string[] => differencesOf(given.map((each) => record(each)));
