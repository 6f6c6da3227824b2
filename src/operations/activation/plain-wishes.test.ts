import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { conversation } from '../../../tests/support/conversation.ts';
import { writeFiles } from '../../../tests/support/folders.ts';

const folder = await temporaryFolder(afterAll);
const context = await contextIn(folder);

async function inFrench(documents?: string) {
  const project = await temporaryFolder(afterAll);
  await writeFiles(project, {
    '_bmad/custom/config.toml': `[core]\ncommunication_language = "Français"\n${documents === undefined ? '' : `document_output_language = "${documents}"\n`}`,
  });
  return conversation(await contextIn(project));
}

describe('a message in another language than the project sets', () => {
  const english = 'Please write the brief for our shop, with the goals that we have.';

  it('is remarked in a line, with the languages to answer and to write in', async () => {
    expect((await (await inFrench('English'))({ agent: 'pm', message: english })).body).toMatch(
      /^The message is in English, but this project is set to Français: answer in Français and write documents in English, unless the user asks for another language\.$/m,
    );
    expect((await (await inFrench())({ workflow: 'prd', message: english })).body).toContain(
      'answer in Français and write documents in Français',
    );
  });

  it('is not remarked where it is the same, cannot be told, or nothing is set', async () => {
    const remark = 'but this project is set to';
    const ask = await inFrench();
    const french = 'Écris le brief de la boutique avec les objectifs que nous avons.';
    expect((await ask({ agent: 'pm', message: french })).body).not.toContain(remark);
    expect((await ask({ agent: 'pm', message: 'MVP' })).body).not.toContain(remark);
    for (const message of [english, french])
      expect((await conversation(context)({ agent: 'pm', message })).body).not.toContain(remark);
  });
});

describe('a wish in plain words', () => {
  it('names the entry of the menu that is for it, beside the agent', async () => {
    const ask = conversation(context);
    const { body, said } = await ask({ agent: 'pm', message: 'create the epics and stories' });
    expect(body).toContain('----- BEGIN');
    expect(said).toContain('bmad {operation:"execute", agent:"bmm/bmad-agent-pm", message:"CE"}');
    expect(said).toContain('This fits CE of its menu');
  });

  it('leaves the parts of a text as they are, whatever is named beside them', async () => {
    const message = 'create the epics and stories';
    const whole = (await conversation(context)({ agent: 'pm', message, detail: 'full' })).result.text;
    // Cut at every length, a part may end in blank lines.
    for (const answerBytes of ['4000', '4100', '4300', '4700']) {
      const ask = conversation(await contextIn(folder, { flags: { answerBytes } }));
      const first = await ask({ agent: 'pm', message });
      let text = first.result.text;
      for (let { next } = first.result; next !== undefined;) {
        const { result } = await ask({ agent: 'pm', cursor: next });
        text += result.text;
        next = result.next;
      }
      expect(text, answerBytes).toBe(whole);
    }
  });

  it('names nothing where no entry is plainly for it', async () => {
    const ask = conversation(context);
    for (const message of ['Good morning', 'What comes next for the shop?', 'Our customers like plants'])
      expect((await ask({ agent: 'pm', message })).said, message).not.toContain('of its menu');
  });
});

describe('an entry of a menu that leads to a prompt of the agent itself', () => {
  const AGENT = [
    '---\nname: "fullstack-dev"\ndescription: "Dev"\n---\n\n<agent id="fullstack-dev" name="Stack" title="Dev">\n  <menu>',
    '    <item cmd="FF or fuzzy match on feature" action="#implement-feature">[FF] Implémenter Feature</item>',
    '    <item cmd="AP or fuzzy match on api or endpoint or route" action="#api-design">[AP] Design API — spécifier une nouvelle route</item>',
    '    <item cmd="TS or fuzzy match on test or couverture" action="#tests">[TS] Tests — audit couverture + ajout tests manquants</item>',
    '  </menu>\n  <prompts>',
    ...['implement-feature', 'api-design', 'tests'].map(
      (id) => `    <prompt id="${id}">\n${`      Mode ${id}.\n`.repeat(60)}    </prompt>`,
    ),
    '  </prompts>\n</agent>\n',
  ].join('\n');
  const agent = 'fullstack-dev';

  async function inKit(flags = {}) {
    const project = await temporaryFolder(afterAll);
    await writeFiles(project, { '_bmad/_config/custom/agents/fullstack-dev.md': AGENT });
    return conversation(await contextIn(project, { flags }));
  }

  it('brings that prompt, and does not lead back to itself', async () => {
    const ask = await inKit();
    expect((await ask({ agent, message: 'AP' })).said).not.toContain('message:"AP"');
    const again = await ask({ agent, message: 'AP une route' });
    expect(again.said).not.toContain('message:"AP"');
    expect(again.body).toContain('<prompt id="api-design">');
    expect(again.body).not.toContain('<prompt id="tests">');
    const cut = await (await inKit({ answerBytes: '4000' }))({ agent, message: 'TS' });
    expect(cut.said).toContain('section:"#tests"');
  });

  it('is not named for a wish that is about more, or about another entry too', async () => {
    const ask = await inKit();
    for (const message of [
      'Ajoute la route GET /health au serveur, avec un test',
      'Ajoute la route GET /health avec un test',
    ])
      expect((await ask({ agent, message })).said, message).not.toContain('of its menu');
    expect((await ask({ agent, message: 'fais un audit de la couverture' })).said).toContain('This fits TS');
  });
});
