import type { DeclaredModule } from '../model/module.ts';
import type { Origin } from '../model/origin.ts';
import type { Tree } from './tree.ts';

/** An origin together with its bytes. */
export interface Source {
  origin: Origin;
  tree: Tree;
  /** What its content is called where it does not say so itself; otherwise the folder's name. */
  name?: string;
  /** What a marketplace says about the modules in the tree, each of which is a separate folder at the top. */
  declared?: readonly DeclaredModule[];
  /** What was made of it when it was built, if it cannot have changed since. */
  prepared?: () => Promise<string | undefined>;
}
