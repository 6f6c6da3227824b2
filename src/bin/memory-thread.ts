import { openIndexMaker } from '../app/threads.ts';
import { serveThread } from '../base/process/thread.ts';

/** Makes the index of a project's memories, in a thread beside the server. */
serveThread(openIndexMaker);
