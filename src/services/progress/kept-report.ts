import { join } from 'node:path';
import { changeMark } from '../../base/files/file-stamps.ts';
import { ProjectFiles } from './project-files.ts';
import { readReport, type Report } from './report.ts';

/** A file that was written so shortly before it was read may be written again without its times telling. */
const SETTLED_MS = 100;

/**
 * What the files of a project last said about its progress, kept until one of them has changed: each that was read and each
 * folder that was looked into is looked at again, which takes a fraction of the time that reading takes.
 */
export class KeptReport {
  #kept: { root: string; marks: ReadonlyMap<string, string | undefined>; report: Report } | undefined;

  async read(root: string): Promise<Report> {
    const kept = this.#kept;
    if (kept?.root === root && isSame(root, kept.marks)) return kept.report;
    this.#kept = undefined;
    const files = new ProjectFiles(root);
    const begun = Date.now();
    const report = await readReport(root, files);
    if (files.newest < begun - SETTLED_MS) this.#kept = { root, marks: files.looked, report };
    return report;
  }
}

function isSame(root: string, marks: ReadonlyMap<string, string | undefined>): boolean {
  for (const [path, mark] of marks) if (changeMark(join(root, path)) !== mark) return false;
  return true;
}
