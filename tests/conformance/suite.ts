import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bareEnvironment, runToEnd } from '../support/programs.ts';
import { conformanceTool } from '../support/tools.ts';

interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
}

interface Scenario {
  name: string;
  passed: number;
  /** What a server must do and this one does not, in the suite's words. */
  failed: string[];
  /** What a server should do and this one does not. */
  warnings: string[];
}

export interface SuiteRun {
  code: number | null;
  /** What the suite printed; the place to look when something is red. */
  output: string;
  scenarios: Map<string, Scenario>;
}

/** Runs the official suite against a server; `folder` is an empty one for its reports. */
export async function runSuite(url: string, folder: string, options: readonly string[]): Promise<SuiteRun> {
  const reports = join(folder, 'reports');
  await mkdir(reports, { recursive: true });
  const [program, ...first] = await conformanceTool();
  const args = [...first, 'server', '--url', url, ...options, '--output-dir', reports];
  const { code, stdout, stderr } = await runToEnd(program, args, {
    cwd: folder,
    env: bareEnvironment(folder),
  });
  const scenarios = new Map<string, Scenario>();
  for (const report of (await readdir(reports)).sort()) {
    const name = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(report)?.[1] ?? report;
    const text = await readFile(join(reports, report, 'checks.json'), 'utf8');
    scenarios.set(name, scenarioOf(name, JSON.parse(text) as Check[]));
  }
  return { code, output: `${stdout.toString('utf8')}${stderr}`, scenarios };
}

/** The server scenarios a revision of the protocol requires, as the suite itself lists them. */
export async function requiredScenarios(revision: string, folder: string): Promise<string[]> {
  const [program, ...first] = await conformanceTool();
  const { stdout } = await runToEnd(program, [...first, 'list', '--requirements', revision], {
    cwd: folder,
    env: bareEnvironment(folder),
  });
  const section = /Server scenarios[^\n]*\n([^]*?)\n\n/.exec(stdout.toString('utf8'))?.[1] ?? '';
  return [...section.matchAll(/^ *- (\S+)$/gm)].map((match) => match[1] ?? '');
}

function scenarioOf(name: string, checks: readonly Check[]): Scenario {
  const those = (status: Check['status']): string[] =>
    checks
      .filter((check) => check.status === status)
      .map(({ id, errorMessage = '' }) => `${id}: ${errorMessage}`);
  return {
    name,
    passed: those('SUCCESS').length,
    failed: those('FAILURE'),
    warnings: those('WARNING'),
  };
}

/** What is wrong with these scenarios; one that did not run is wrong as well. */
export function faults({ scenarios }: SuiteRun, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const scenario = scenarios.get(name);
    if (scenario === undefined) return [`${name} did not run`];
    return [...scenario.failed, ...scenario.warnings].map((text) => `${name}: ${text}`);
  });
}

export const passedChecks = ({ scenarios }: SuiteRun, names: readonly string[]): number =>
  names.reduce((sum, name) => sum + (scenarios.get(name)?.passed ?? 0), 0);
