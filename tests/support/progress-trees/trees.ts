import { CYCLE_TREES } from './cycles.ts';
import { DISAGREEMENT_TREES } from './disagreements.ts';
import { DOCUMENT_TREES } from './documents.ts';
import type { ProgressTree } from './pieces.ts';
import { PLACE_TREES } from './places.ts';
import { REVIEW_TREES } from './reviews.ts';
import { RUN_FOLDER_TREES } from './run-folders.ts';
import { STORY_TREES } from './stories.ts';
import { VERSION_4_TREES } from './version-4.ts';

export const TREES: readonly ProgressTree[] = [
  ...DOCUMENT_TREES,
  ...RUN_FOLDER_TREES,
  ...STORY_TREES,
  ...DISAGREEMENT_TREES,
  ...PLACE_TREES,
  ...REVIEW_TREES,
  ...CYCLE_TREES,
  ...VERSION_4_TREES,
];
