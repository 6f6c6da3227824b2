import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect } from 'vitest';
import { BmadError } from '../../src/base/errors.ts';
import { temporaryFolder } from '../support/app.ts';
import { age, copyFolder, leftovers, remake, sceneIn, type Scene, type Writer } from './scene.ts';

/** All calls are tried on request; by default, a few of those that come one after the other in a long write. */
export const FULL = process.env['BMAD_TEST_FULL'] !== undefined;

/** The numbers to try when a write has so many calls: all, or some of them spread over the whole. */
export function chosen(calls: number, most: number): number[] {
  const all = Array.from({ length: calls }, (_, index) => index + 1);
  if (FULL || calls <= most) return all;
  return all.filter((n) => Math.floor((n * most) / calls) !== Math.floor(((n - 1) * most) / calls));
}

/** A write and what it leads to on a disk that works. */
export interface Trial {
  writer: Writer;
  scene: Scene;
  /** The folder that the scene is made from. */
  model: string;
  old: StateKept;
  new: StateKept;
}

interface StateKept {
  found: string[];
  /** What is found after one more write. */
  next: string[];
}

export async function trialOf(writer: Writer, onEnd: Parameters<typeof temporaryFolder>[0]): Promise<Trial> {
  const top = await temporaryFolder(onEnd);
  const [scene, model] = [sceneIn(join(top, 'scene')), join(top, 'model')];
  for (const folder of [scene.project, scene.state]) await mkdir(folder, { recursive: true });
  await writer.prepare(scene);
  await copyFolder(scene.folder, model);
  const outcome = async (...acts: string[]): Promise<string[]> => {
    await remake(scene, model);
    for (const what of acts) await writer.act(scene, what);
    return writer.read(scene);
  };
  const trial: Trial = {
    writer,
    scene,
    model,
    old: { found: await outcome(), next: await outcome('second') },
    new: { found: await outcome('first'), next: await outcome('first', 'second') },
  };
  // Otherwise nothing could be told from what is found.
  expect(trial.old.found).not.toEqual(trial.new.found);
  expect(trial.new.next).not.toEqual(trial.new.found);
  expect(await writer.wrong?.(scene)).toEqual(writer.wrong === undefined ? undefined : []);
  expect(await leftovers(scene, { notes: true, model })).toEqual([]);
  return trial;
}

/**
 * What is wrong after a write that failed: there has to be the old or the new, only the new if it was acknowledged, and
 * one more write makes everything right again. `died` says whether its process is no more, and could not tidy up.
 */
export async function problemsAfter(
  { writer, scene, model, old, new: fresh }: Trial,
  { acknowledged, error, died }: { acknowledged: boolean; error?: unknown; died: boolean },
): Promise<string[]> {
  const problems: string[] = [];
  if (error !== undefined && !(error instanceof BmadError)) problems.push(`not an answer: ${inspect(error)}`);
  const left = async (when: string, notes: boolean): Promise<void> => {
    const names = await leftovers(scene, { notes, model });
    if (names.length > 0) problems.push(`left ${when}: ${names.join()}`);
  };
  if (!died) await left('at once', false);
  try {
    const found = await writer.read(scene);
    const possible = acknowledged ? [fresh] : [fresh, old];
    const is = possible.find((one) => one.found.join('\n') === found.join('\n'));
    if (is === undefined)
      problems.push(`found ${JSON.stringify(found)}${acknowledged ? ', acknowledged' : ''}`);
    if (died) await age(scene);
    await writer.act(scene, 'second');
    const next = await writer.read(scene);
    if (is !== undefined && next.join('\n') !== is.next.join('\n'))
      problems.push(`then found ${JSON.stringify(next)}`);
    problems.push(...((await writer.wrong?.(scene)) ?? []));
    await left('in the end', true);
  } catch (thrown) {
    problems.push(`the next one failed: ${inspect(thrown)}`);
  }
  return problems;
}
