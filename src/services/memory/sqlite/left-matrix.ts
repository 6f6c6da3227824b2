import { fileIdentity } from '../../../base/files/file-identity.ts';
import { spaceText } from '../rank.ts';
import type { VectorSpace } from '../store.ts';
import { nameOf } from './bring-over.ts';
import { metaText } from './figures.ts';
import { Matrix } from './matrix.ts';
import type { Database } from './open.ts';

interface Left {
  path: string;
  identity: string;
  /** The name of the store. */
  name: string;
  matrix: Matrix;
}

/** The vectors that were loaded before anyone asked; for the one project that a server rehearses a recall for. */
let left: Left | undefined;

/** Leaves vectors for the next opening of the same file. */
async function leaveMatrix(database: Database, matrix: Matrix): Promise<void> {
  const { path } = database;
  const identity = await fileIdentity(path);
  const name = await database.read(() => nameOf(database));
  left = identity === undefined || name === undefined ? undefined : { path, identity, name, matrix };
}

/**
 * The vectors that were left, if the file is still the same one and has only gone on since; otherwise none, which are then loaded.
 * What has changed since comes with the next question.
 */
async function matrixFor(database: Database, space: VectorSpace): Promise<Matrix> {
  const found = left;
  if (found?.path !== database.path) return new Matrix(space);
  left = undefined;
  const [name, rev] = await database.read(
    () => [nameOf(database), Number(metaText(database, 'rev'))] as const,
  );
  const isSame =
    found.identity === (await fileIdentity(database.path)) &&
    found.name === name &&
    rev >= found.matrix.rev &&
    spaceText(found.matrix.space) === spaceText(space);
  return isSame ? found.matrix.reopened() : new Matrix(space);
}

/** The vectors of one opening of a file at a time. */
export class OpenVectors {
  readonly #space: VectorSpace | undefined;
  #held: { of: Database; matrix: Promise<Matrix> } | undefined;

  constructor(space: VectorSpace | undefined) {
    this.#space = space;
  }

  async of(database: Database): Promise<Matrix | undefined> {
    if (this.#space === undefined) return undefined;
    if (this.#held?.of === database) return this.#held.matrix;
    const matrix = matrixFor(database, this.#space);
    this.#held = { of: database, matrix };
    // A failed read is not kept: the next recall tries again.
    matrix.catch(() => {
      if (this.#held?.matrix === matrix) this.#held = undefined;
    });
    return matrix;
  }

  drop(): void {
    this.#held = undefined;
  }

  /** Leaves them for the next opening; from then on they are no longer used here. */
  async handOn(database: Database): Promise<void> {
    const matrix = await this.of(database);
    this.drop();
    if (matrix !== undefined) await leaveMatrix(database, matrix);
  }
}
