import { openProject } from './open-project.ts';

/** A process that changes one memory: `changer ROOT update ID TEXT`, `… forget ID` or `… remember TEXT`. */
const [root = '', action, subject = '', text = ''] = process.argv.slice(2);

const memory = await openProject(root);
if (action === 'update') await memory.update(subject, undefined, { text });
else if (action === 'forget') await memory.forget(subject);
else await memory.remember({ type: 'decisions', agent: 'dev', text: subject });
await memory.close();
