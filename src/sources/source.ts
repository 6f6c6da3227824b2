import type { Origin } from '../model/origin.ts';
import type { Tree } from './tree.ts';

/** An origin together with its bytes. */
export interface Source {
  origin: Origin;
  tree: Tree;
}
