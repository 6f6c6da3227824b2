import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { contentUri } from '../../base/files/paths.ts';
import { fold, nearest } from '../../base/text/suggest.ts';
import type { KnowledgeDomain, KnowledgeFragment, Workspace } from '../context.ts';
import { cursorField, projectField, sectionField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { restOf, shownNote, shownTextSchema, showText } from './shown-text.ts';

const IDS_IN_HINT = 40;

/** Knowledge is loaded by the piece: first the index of a domain, then what is needed of it. */
export const getKnowledge = defineOperation({
  name: 'get_knowledge',
  title: 'Knowledge of a domain',
  description:
    'BMAD knowledge, such as architecture. With a domain only: the index of its fragments. With fragment or tag: their text.',
  effect: 'read',
  toolset: 'workflows',
  input: z.strictObject({
    domain: z.string().trim().min(1).max(200).describe('e.g. architecture; an unknown one lists all'),
    fragment: z.string().min(1).max(1_000).optional().describe('Id from the index'),
    tag: z.string().min(1).max(200).optional().describe('All fragments with this tag'),
    section: sectionField,
    cursor: cursorField,
    project: projectField,
  }),
  output: z.object({
    domain: z.string(),
    module: z.string(),
    /** URIs of what the text holds; nothing for the index. */
    fragments: z.array(z.string()),
    about: z.string(),
    exact: z.boolean(),
    ...shownTextSchema.shape,
  }),

  async run({ domain: name, fragment, tag, section, cursor, project }, context) {
    const workspace = await context.workspace(project);
    const domain = await (await workspace.knowledge()).domain(name);
    if (fragment !== undefined && tag !== undefined) {
      throw new BmadError('invalid_input', t`get_knowledge: give "fragment" or "tag", not both.`, {
        hint: t`Omit both to get the index of the domain.`,
      });
    }
    const chosen =
      fragment !== undefined ? [fragmentOf(domain, fragment)] : tag !== undefined ? withTag(domain, tag) : [];
    const titledText = async (each: KnowledgeFragment): Promise<string> =>
      `<!-- ${contentUri(each.path)} -->\n${await textOf(each, workspace)}`;
    const [only] = chosen;
    const text =
      only === undefined
        ? indexText(domain)
        : chosen.length === 1
          ? await textOf(only, workspace)
          : (await Promise.all(chosen.map(titledText))).join('\n\n');
    return {
      domain: domain.name,
      module: domain.module,
      fragments: chosen.map(({ path }) => contentUri(path)),
      about: aboutOf(domain, chosen),
      exact: chosen.length === 1,
      ...showText(text, { section, cursor, detail: 'standard', maxBytes: context.config.answerBytes }),
    };
  },

  render: (data) => ({
    body: data.text,
    note: [data.about, shownNote(data)].filter(Boolean).join(' '),
    again: restOf(data),
    ...(data.exact ? { exact: true as const } : {}),
  }),
});

function aboutOf({ name, fragments }: KnowledgeDomain, chosen: readonly KnowledgeFragment[]): string {
  const [only] = chosen;
  if (only === undefined)
    return t`Index of ${name}, ${plural(fragments.length, 'fragment')}; pass "fragment" or "tag" to load.`;
  return chosen.length === 1
    ? t`${contentUri(only.path)} of ${name}.`
    : t`${plural(chosen.length, 'fragment')} of ${name}: ${chosen.map(({ id }) => id).join(', ')}.`;
}

function indexText({ name, module, fragments }: KnowledgeDomain): string {
  const lines = fragments.map(({ id, title, description, tags }) => {
    const heading = title === undefined ? '' : ` ${title}`;
    const marks = tags.length === 0 ? '' : ` [${tags.join(', ')}]`;
    return `- **${id}**${heading}${marks}${description === '' ? '' : t`: ${description}`}`;
  });
  return t`# Knowledge: ${name} (module ${module})\n\n${lines.join('\n')}\n`;
}

function fragmentOf({ name, fragments }: KnowledgeDomain, wanted: string): KnowledgeFragment {
  const folded = fold(wanted.replace(/^bmad:\/\//, ''));
  const found =
    fragments.find(({ id }) => fold(id) === folded) ??
    fragments.find(({ title, path }) => fold(title ?? '') === folded || fold(path) === folded);
  if (found !== undefined) return found;
  const ids = fragments.map(({ id }) => id);
  throw new BmadError('not_found', t`There is no fragment ${quoted(wanted)} in ${name}.`, {
    subject: wanted.slice(0, 200),
    suggestions: nearest(wanted, ids),
    hint: t`Fragments: ${ids.slice(0, IDS_IN_HINT).join(', ')}${ids.length > IDS_IN_HINT ? ', …' : ''}.`,
  });
}

function withTag({ name, fragments }: KnowledgeDomain, wanted: string): KnowledgeFragment[] {
  const found = fragments.filter(({ tags }) => tags.some((tag) => fold(tag) === fold(wanted)));
  if (found.length > 0) return found;
  const tags = [...new Set(fragments.flatMap((fragment) => fragment.tags))].sort();
  throw new BmadError('not_found', t`No fragment of ${name} has the tag ${quoted(wanted)}.`, {
    subject: wanted,
    suggestions: nearest(wanted, tags),
    hint:
      tags.length === 0
        ? t`This domain has no tags; omit "tag" to get its index.`
        : t`Tags: ${tags.slice(0, IDS_IN_HINT).join(', ')}${tags.length > IDS_IN_HINT ? ', …' : ''}.`,
  });
}

async function textOf({ path }: KnowledgeFragment, { delivery }: Workspace): Promise<string> {
  return (await delivery.file(path)).text ?? t`(This file is not text.)`;
}
