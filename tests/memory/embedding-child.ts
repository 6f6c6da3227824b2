import { memoryStatus } from '../../src/operations/memory/memory-operations.ts';
import { sessionIn } from '../support/operations.ts';

/** A host of its own that makes vectors until it is killed: `embedding-child FOLDER URL MODEL ENGINE`. */
const [folder = '', ollamaUrl = '', embeddingModel = '', memoryEngine = ''] = process.argv.slice(2);
const session = await sessionIn(folder, { flags: { ollamaUrl, embeddingModel, memoryEngine } });
await session.ok(memoryStatus);
setInterval(() => undefined, 1_000);
