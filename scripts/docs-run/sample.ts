import type { CreateMessageRequestParams, CreateMessageResult } from '@modelcontextprotocol/client';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { cliFile, serverFile } from '../../tests/support/app.ts';

/** A machine of its own to run documents on: the home of Ada, empty, and her project in it. */
export interface Sample {
  /** Stands for the root of the disk in what is shown. */
  root: string;
  home: string;
  project: string;
  /** A folder for the PATH, with the programs as npm would install them. */
  programs: string;
  /** Added to the environment of everything that runs. */
  env: Record<string, string>;
  /** Answers as the model of the client; without it the client offers none. */
  model?: (params: CreateMessageRequestParams) => CreateMessageResult;
}

/** Prepares a sample: writes files, or installs something. It may move the project. */
export type Preparation = (sample: Sample) => void | Promise<void>;

export async function openSample(prepare: Preparation): Promise<Sample> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'docs-')));
  const home = join(root, 'home', 'ada');
  const sample: Sample = { root, home, project: join(home, 'shop'), programs: join(root, 'bin'), env: {} };
  await mkdir(sample.project, { recursive: true });
  await mkdir(sample.programs);
  for (const [name, file] of [
    ['bmad', cliFile],
    ['bmad-mcp-server', serverFile],
  ] as const)
    await writeFile(join(sample.programs, name), `#!/bin/sh\nexec "${process.execPath}" "${file}" "$@"\n`, {
      mode: 0o755,
    });
  await prepare(sample);
  return sample;
}

export async function removeSample({ root }: Sample): Promise<void> {
  await rm(root, { recursive: true, force: true });
}
