import { describe, expect, it } from 'vitest';
import { WEB_CONTEXT } from '../../../tests/support/kit-trees.ts';
import { contextSections, requestsIn, teamIn } from './context-sections.ts';
import { requestId } from './handoffs.ts';

const sections = contextSections(WEB_CONTEXT);
/** Rows that a template brings filled in, and what somebody has written among them. */
const TEMPLATE_ROWS =
  '\n## Variables\n\n| Nom | Note |\n|---|---|\n| `URL` | DSN |\n| `KEY` | Secret |\n| `{{var}}` | {{note}} |\n\n' +
  '## Vigilance\n\n<!-- Remplir -->\n\n- [ ] CORS configuré\n- [ ] CSP configurée\n\n## Règles\n\nPas de dépendances.\n';
const named = (title: string) => sections.find((section) => section.title === title);

describe('contextSections', () => {
  it('joins the sections of several templates, whatever the apostrophe, and ignores comments and fences', () => {
    expect(sections.map(({ title, topic }) => [title, topic])).toEqual([
      ['Projet', 'project'],
      ['Stack Technique', 'stack'],
      ['Architecture', 'architecture'],
      ['API', 'api'],
      ['Équipe d’Agents Custom', 'agents'],
      ['Requêtes inter-agents', 'requests'],
      ['Infrastructure', 'infrastructure'],
    ]);
    expect(named('Projet')?.line).toBe(7);
  });

  it('gives what somebody has filled in, and nothing that a template has left open', () => {
    expect(named('Projet')?.text).toBe('- **Description** : Une boutique');
    expect(named('Architecture')?.text).toBe('');
    expect(named('API')?.text).toBe('- **Format** : JSON');
    expect(named('Stack Technique')?.rows).toEqual([
      { Couche: 'Frontend', Technologie: 'React', Version: '', Répertoire: '`web`' },
    ]);
    expect(named('Stack Technique')?.text).not.toContain('{{');
    expect(named('Infrastructure')?.rows).toHaveLength(1);
  });

  it('takes nothing of a template for the project, as long as that is not even named', () => {
    const routes =
      '## API\n\n- **URL** : {{url}}\n\n| Route | Note |\n|---|---|\n| `/health` | Health check |\n';
    const open = contextSections(
      `# Contexte — {{project_name}}\n\n## Projet\n\n- **Nom** : {{name}}\n\n${routes}${TEMPLATE_ROWS}`,
    );
    expect(open.map(({ title, text }) => [title, text])).toEqual([
      ['Projet', ''],
      ['API', ''],
      ['Variables', ''],
      ['Vigilance', ''],
      ['Règles', 'Pas de dépendances.'],
    ]);
    const shop = contextSections(`# Contexte — Shop\n\n${routes}`);
    expect(shop[0]?.text).toContain('/health');
  });

  it('keeps what somebody has written above what a template leaves open (B-10)', () => {
    const table = '| Couche | Technologie |\n|---|---|\n| Frontend | {{frontend_tech}} |\n';
    const fence = '```bash\n# Démarrer\n{{dev_start_command}}\n```\n';
    const [, ...told] = contextSections(
      `# Contexte — {{project_name}}\n\n## Projet\n\n- **Nom** : {{name}}\n\n## Stack\n\nFrontend: React 19\n\n${table}\n` +
        `## Stack bis\n\nBackend: Go\n${table}\n## API\n\nREST\n- **URL** : {{url}}\n- **Format** : JSON\n\n## Local\n\nmake dev\n${fence}\n## Base\n\n${fence}`,
    );
    expect(told.map(({ text }) => text)).toEqual([
      'Frontend: React 19',
      'Backend: Go',
      'REST',
      'make dev',
      '',
    ]);
  });

  it('keeps a table that somebody has filled in, though its title is still open', () => {
    const rows = ['web', 'api', 'mail', 'jobs'].map((name) => `| ${name} | ${name}.example.org |`).join('\n');
    const [table] = contextSections(
      `# Contexte — {{project_name}}\n\n## Infrastructure\n\n| Service | Hôte |\n|---|---|\n${rows}\n| {{service}} | {{host}} |\n`,
    );
    expect(table?.rows).toHaveLength(4);
    expect(table?.text).not.toContain('{{');
  });

  it('keeps a tree that is filled in', () => {
    const [section] = contextSections('## Architecture\n\n```\nshop/\n├── web\n```\n');
    expect(section?.text).toBe('```\nshop/\n├── web\n```');
  });

  it('reads lines that end with CR and LF', () => {
    const crlf = contextSections(WEB_CONTEXT.replaceAll('\n', '\r\n'));
    expect(crlf.map(({ text, line }) => [text, line])).toEqual(
      sections.map(({ text, line }) => [text, line]),
    );
  });

  it('has nothing to say about an empty file', () => {
    expect(contextSections('')).toEqual([]);
  });
});

describe('teamIn', () => {
  it('reads all tables, with the note behind an id, past a quote between heading and table', () => {
    expect(teamIn(sections)).toEqual([
      { id: 'project-navigator', name: 'Atlas', icon: '🗺️', domain: 'Navigation' },
      { id: 'go-expert', name: 'Gopher', icon: '🐹', domain: 'Backend Go', note: 'si stack Go' },
      { id: 'ops-engineer', name: 'Forge', icon: '🔧', domain: 'Infra' },
    ]);
  });
});

describe('requestsIn', () => {
  it('reads both arrows, boxes and plain lines, and what nobody owns', () => {
    const found = requestsIn(sections, requestId);
    expect(found.map(({ from, to, text, done }) => [from, to, text, done])).toEqual([
      ['stack', 'qa', 'tests E2E du panier', false],
      ['qa', 'stack', 'corriger le total', true],
      ['stack', undefined, 'audit accessibilité', false],
      ['atlas', undefined, 'cartographier les services', false],
    ]);
    expect(new Set(found.map(({ id }) => id)).size).toBe(4);
  });

  it('reads an English inbox', () => {
    const english = contextSections('## Inter-Agent Requests\n\n- [ ] [dev->qa] check it\n');
    expect(requestsIn(english, requestId)).toMatchObject([{ from: 'dev', to: 'qa', line: 3 }]);
  });
});
