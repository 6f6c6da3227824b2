import { at } from './model.ts';
import type { Report } from './report.ts';
import { RULES } from './rules.ts';
import type { Action, Work, Workers } from './workers.ts';

/**
 * Version 4 has a command for each kind of architecture. A workflow that is under way decides for one, and so does a PRD
 * or a brief that says there is no user interface, or what there is instead; otherwise each is named with what it is for.
 */
export function architectures(
  written: Action,
  report: Pick<Report, 'brownfield' | 'namesInterface' | 'noInterface'>,
  workers: Workers,
  started: readonly string[],
): Action[] {
  const other = (name: string, why: string, work: Work): Action => ({
    what: `Or write a ${name} architecture`,
    why,
    evidence: [],
    worker: workers.for(work, true),
    optional: true,
  });
  const { brownfield, namesInterface, noInterface } = report;
  const existing = brownfield
    ? [other('brownfield', 'there is code already', RULES['existing code'].work)]
    : [];
  const frame = started.find((name) => /(?:^|[/:])(?:green|brown)field-service$/.test(name));
  const decides =
    frame === undefined
      ? noInterface === undefined || namesInterface
        ? undefined
        : `no user interface is planned (${at(noInterface)})`
      : `the workflow ${frame} is under way, which is for a product without a user interface`;
  const worker = decides === undefined ? undefined : workers.for(RULES.service.work, true);
  if (decides !== undefined && worker !== undefined)
    return [
      { ...written, why: `${written.why}; ${decides}`, worker },
      other('full-stack', 'only if the product has a user interface as well', 'architecture'),
      ...existing,
    ];
  if (namesInterface && noInterface === undefined) return [written, ...existing];
  const open =
    noInterface === undefined
      ? 'it is open whether there is a user interface'
      : `the PRD contradicts itself on a user interface (${at(noInterface)})`;
  return [
    {
      ...written,
      what: `${written.what}, full-stack or backend`,
      why: `${written.why}; ${open}, so choose: this one if so (front end alone: *create-front-end-architecture)`,
    },
    other('backend', 'for a service, command line or library', RULES['no interface'].work),
    ...existing,
  ];
}
