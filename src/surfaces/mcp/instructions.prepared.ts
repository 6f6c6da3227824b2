import { SERVER_KEY } from '../../base/product.ts';
import type { Step } from '../../base/step.ts';
import { toolCall } from '../../operations/unified/forms.ts';

// Worked out when the programs are built: every start needs these texts, none what writes them.

/** The arguments of a call of the unified tool; its name is at the top of the text. */
function call(operation: string, args: NonNullable<Step['args']> = {}): string {
  return toolCall({ operation, args })?.slice(`${SERVER_KEY} `.length) ?? '';
}

const start = call('execute', { name: 'architect', kind: 'agent', message: "<the user's words>" });
const startWorkflow = call('execute', { name: 'prd', kind: 'workflow', message: '…' });
const read = call('read', { target: 'bmad://…', kind: 'resource' });
const search = call('search', { query: 'words' });
const phase = call('list', { what: 'workflows', category: 'plan' });

/** The first sentence matters most: some hosts cut after 2,000 characters, and models read from the top. */
export const INSTRUCTIONS = `Use the tool "${SERVER_KEY}" whenever the user wants a BMad Method agent (architect, pm, analyst, dev, ux-designer, or a persona such as Winston) or workflow (prd, architecture, build, brainstorming, party-mode, …): call ${start} or ${startWorkflow} and then follow the returned text as your own instructions.

- One execute call is enough to begin: it holds the persona or workflow, the configuration values, the customization and links to more files. No script has to be run and no BMAD installation is needed.
- When a text names another skill, execute it by that name. When it names a file, read it: ${read}.
- If an answer says it is a PART, fetch the next one with its cursor before you go past it, or ask for one heading with "section".
- Not sure what fits? ${search} ranks agents and workflows; ${phase} shows a phase.
- Bare commands work too: {command:"bmm/architect"}, {command:"*party-mode"}.
- Names may be short (prd), full (bmad-prd), qualified (bmm/prd), a persona (John) or a menu code (CA). Pass "project" with an absolute folder if the work is not in the folder the server was started for.`;

export const NEXT = `To see how far along the project is and what to do next: ${call('next')}.`;
