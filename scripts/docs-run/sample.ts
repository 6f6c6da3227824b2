import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A machine of its own to run documents on: the home of Ada, empty, and her project in it. */
export interface Sample {
  /** Stands for the root of the disk in what is shown. */
  root: string;
  home: string;
  project: string;
  /** Added to the environment of everything that runs. */
  env: Record<string, string>;
}

/** Prepares a sample: writes files, or installs something. It may move the project. */
export type Preparation = (sample: Sample) => void | Promise<void>;

export async function openSample(prepare: Preparation): Promise<Sample> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'docs-')));
  const home = join(root, 'home', 'ada');
  const sample: Sample = { root, home, project: join(home, 'shop'), env: {} };
  await mkdir(sample.project, { recursive: true });
  await prepare(sample);
  return sample;
}

export async function removeSample({ root }: Sample): Promise<void> {
  await rm(root, { recursive: true, force: true });
}
