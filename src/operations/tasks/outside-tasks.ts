import type { AnyOperation } from '../operation.ts';
import { outsideTaskAdd, outsideTaskCancel } from './outside-task-change.ts';
import { outsideTaskList, outsideTaskShow } from './outside-task-read.ts';

/**
 * What is there for surfaces through which strangers ask for work. They are not in the list of all operations: most
 * sessions never need them, and would have to load them.
 */
export const outsideOperations: readonly AnyOperation[] = [
  outsideTaskAdd,
  outsideTaskShow,
  outsideTaskList,
  outsideTaskCancel,
];

export { outsideTaskAdd, outsideTaskCancel, outsideTaskList, outsideTaskShow };
