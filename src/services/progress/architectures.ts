import type { Report } from './report.ts';
import { RULES } from './rules.ts';
import type { Action, Work, Workers } from './workers.ts';

/**
 * Version 4 has a command for each kind of architecture. A workflow that is under way decides for one, and so does a PRD
 * with a section on the user interface; otherwise each is named with what it is for.
 */
export function architectures(
  written: Action,
  { brownfield, namesInterface }: Pick<Report, 'brownfield' | 'namesInterface'>,
  workers: Workers,
  started: readonly string[],
): Action[] {
  const other = (name: string, why: string, work: Work, optional = true): Action => ({
    what: `Or write a ${name} architecture`,
    why,
    evidence: [],
    worker: workers.for(work, true),
    optional,
  });
  const existing = brownfield
    ? [other('brownfield', 'for a change of the code there is', RULES['existing code'].work)]
    : [];
  const frame = started.find((name) => /(?:^|[/:])(?:green|brown)field-service$/.test(name));
  const worker = frame === undefined ? undefined : workers.for(RULES.service.work, true);
  if (worker !== undefined)
    return [
      {
        ...written,
        why: `${written.why}; the workflow ${frame ?? ''} is under way, which is for a product without a user interface`,
        worker,
      },
      other('full-stack', 'only if the product has a user interface as well', 'architecture'),
      ...existing,
    ];
  if (namesInterface) return [written, ...existing];
  return [
    {
      ...written,
      what: `${written.what}, full-stack`,
      why: `${written.why}; this one is for a product with a user interface`,
    },
    other('backend', 'for a service, command line or library', RULES['no interface'].work, false),
    ...existing,
  ];
}
