// What is tried on files and, unchanged, on a database. In one file, since a worker imports for its first file what all of them need.
/* oxlint-disable import/no-unassigned-import -- the tests in these files are what is wanted of them */
import '../../src/operations/runs/run-progress.test.ts';
import '../../src/operations/tasks/task-work.test.ts';
import '../../src/services/completion/receipts.test.ts';
import '../../src/services/tasks/tasks.test.ts';
import '../state/tasks.test.ts';
