import type { Origin } from '../model/origin.ts';
import type { Tree } from './tree.ts';

/** An origin together with its bytes. */
export interface Source {
  origin: Origin;
  tree: Tree;
  /** What was made of it when it was built, if it cannot have changed since. */
  prepared?: () => Promise<string | undefined>;
}
