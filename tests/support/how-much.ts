import type { Version } from './installs.ts';

/** Long trials were asked for, with `npm run test:deep`. */
export const isDeep = process.env['BMAD_TEST_DEEP'] !== undefined;

/** One release of each shape that BMAD has had: what all tests see. The others are for long trials. */
const USUAL = new Set<Version>(['4.44.3', '6.0.0-alpha.7', '6.0.4', '6.12.0']);

export const isUsual = (version: Version): boolean => isDeep || USUAL.has(version);

/** Of something that is tried with many versions, those that every run has. */
export const usually = <T extends Version>(versions: readonly T[]): readonly T[] => versions.filter(isUsual);

/** Generated cases: a fifth of them in a usual run. */
export const cases = (many: number): number => (isDeep ? many : Math.ceil(many / 5));

/** How often something is repeated, or how large it is: as often as shows it in a usual run. */
export const rounds = (usual: number, long: number): number => (isDeep ? long : usual);

/** Cases that come to the same by other ways: a usual run has the first ones, which take every way once. */
export const some = <T>(usual: number, all: readonly T[]): readonly T[] =>
  isDeep ? all : all.slice(0, usual);

/** The same of rows that begin with a version. */
export const ofUsual = <T extends readonly [Version, ...unknown[]]>(rows: readonly T[]): readonly T[] =>
  rows.filter(([version]) => isUsual(version));
