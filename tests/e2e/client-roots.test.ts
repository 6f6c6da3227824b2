import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { textsOf } from '../support/mcp-client.ts';
import { connectHere } from '../support/mcp-here.ts';

describe('a client that says where it works', () => {
  it('has its overrides found, though the server was started elsewhere', async () => {
    const elsewhere = await temporaryFolder(afterAll);
    const plain = await temporaryFolder(afterAll);
    const project = await temporaryFolder(afterAll);
    await mkdir(join(project, '_bmad/custom'), { recursive: true });
    await writeFile(join(project, '_bmad/custom/bmad-agent-dev.toml'), '[agent]\nrole = "From the roots"\n');
    const client = await connectHere({ cwd: elsewhere, home: elsewhere, roots: [plain, project] });
    const result = await client.callTool({ name: 'bmad', arguments: { operation: 'execute', agent: 'dev' } });
    expect(textsOf(result)[0]).toContain('"role": "From the roots"');
    expect(textsOf(result)[0]).toContain(`- \`{project-root}\`: ${project}`);
    await client.close();
  });
});
