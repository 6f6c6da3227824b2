import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repository } from '../../../tests/support/app.ts';
import { smallVector, wholeVector } from '../vectors.ts';
import { prepareVectors, withPrepared, openStaticEmbedder } from './static.ts';

const model = await openStaticEmbedder(join(repository, 'assets'));
const TEXTS = ['Break requirements into stories', 'Relire une architecture'];

describe('withPrepared', () => {
  it('gives prepared and new vectors in the order of the texts', async () => {
    const prepared = withPrepared(model, await prepareVectors(TEXTS, model));
    const texts = ['something new', TEXTS[1] ?? '', 'and more', TEXTS[0] ?? ''];
    const [given, made] = [await prepared.embed(texts), await model.embed(texts)];
    expect(given.map(smallVector)).toEqual(made.map(smallVector));
    expect(given[0]).toEqual(made[0]);
  });

  it('does not ask the model for what is prepared', async () => {
    const file = await prepareVectors(TEXTS, model);
    const asked: string[] = [];
    const watched = withPrepared(
      {
        ...model,
        embed(texts) {
          asked.push(...texts);
          return model.embed(texts);
        },
      },
      file,
    );
    await watched.embed([...TEXTS, 'new']);
    expect(asked).toEqual(['new']);
  });

  it('passes over vectors of another model, and says when the file is damaged', async () => {
    const file = (await prepareVectors(TEXTS, model)).replace(model.id, 'another');
    expect(withPrepared(model, file)).toBe(model);
    expect(() => withPrepared(model, '{')).toThrow(/damaged/);
  });
});

describe('a small vector', () => {
  it('is near the whole one, and stays as it is when made again', async () => {
    const [vector = new Float32Array()] = await model.embed(TEXTS);
    const small = smallVector(vector);
    expect(smallVector(wholeVector(small))).toEqual(small);
    wholeVector(small).forEach((value, i) => expect(value).toBeCloseTo(vector[i] ?? 0, 2));
    expect(smallVector(new Float32Array(3))).toEqual({ numbers: new Int8Array(3), scale: 0 });
  });
});
