"""Title to passage pairs: READMEs, manuals in HTML, questions and answers, in English and French."""

import json
import re

from archives import decode, files, matching
from clean import html_blocks, markdown, plain, usable

HEADING = re.compile(r'^(#{1,4})\s+(.+?)\s*#*$', re.M)
BARE = re.compile(
    r'(?i)^(install(ation)?|usage|licen[cs]e|api|options?|examples?|contribut\w*|changelog|table of contents|contents|'
    r'getting started|quick start|overview|introduction|description|features|note|see also|notes|résumé|voir aussi)$'
)
LONGEST = 420


def passages(sections, name):
    """Each title with the first words below it; titles that say nothing alone get the name of the whole."""
    for title, body in sections:
        title, body = plain(title), plain(body)[:LONGEST]
        if BARE.match(title) or len(title) < 6:
            title = f'{name} {title}'
        if usable(title, 200) and len(body) >= 30 and usable(body, 2000):
            yield title, body


def markdown_sections(text):
    text = markdown(text)
    marks = list(HEADING.finditer(text))
    for index, mark in enumerate(marks):
        end = marks[index + 1].start() if index + 1 < len(marks) else len(text)
        body = text[mark.end() : end]
        if len(body.strip()) > 20 and not body.strip().startswith('|'):
            yield mark[2], body


def html_sections(text):
    title, body = None, []
    for tag, words in html_blocks(text):
        if tag[0] == 'h' or tag == 'dt':
            if title is not None and body:
                yield title, ' '.join(body)
            title, body = words, []
        elif len(' '.join(body)) < LONGEST:
            body.append(words)
    if title is not None and body:
        yield title, ' '.join(body)


def from_readme(source):
    name = source['name'].split('/')[-1]
    for path, data in files(source, matching(r'(?i)(^|/)(readme[^/]*|docs?/.*|[a-z0-9_-]+)\.mdx?$')):
        if re.search(r'(?i)node_modules/|changelog|licen|history|(\.|_|-|/)(zh|ja|ko|ru|de|es|pt|it|cn|tr|pl|uk)(\b|[-_])', path[8:]):
            continue
        yield from passages(markdown_sections(decode(data)), name)
    for _, data in files(source, matching(r'^package/package\.json$')):
        about = json.loads(decode(data))
        words = about.get('keywords') or []
        if isinstance(about.get('description'), str) and isinstance(words, list):
            yield f"{name} {' '.join(map(str, words[:8]))}", plain(about['description'])


def from_manual(source):
    for path, data in files(source, matching(r'\.html?$')):
        if re.search(r'/(da|de|es|ja|ko|pt-br|ru|tr|zh-cn)/', path):
            continue
        text = decode(data)
        found = re.search(r'<title>(.*?)</title>', text, re.S | re.I)
        name = plain(found[1]) if found else source['name']
        yield from passages(html_sections(text), name)


def from_wiki(source):
    """TiddlyWiki's own pages: a head of fields, an empty line, the text."""
    for path, data in files(source, matching(r'editions/(fr-FR|tw5\.com)/tiddlers/.*\.tid$')):
        head, _, body = decode(data).partition('\n\n')
        fields = dict(line.split(': ', 1) for line in head.splitlines() if ': ' in line)
        title = fields.get('fr-title') or fields.get('title', '')
        body = re.sub(r'<<[^>]*>>|\{\{[^}]*\}\}|^[!*#;:|]+|[`\[\]]|https?://\S+', ' ', body, flags=re.M)
        if not title.startswith('$:'):
            yield from passages([(title, body)], title)


def words_of(node):
    if node.get('type') == 'text':
        return node.get('text', '')
    return ' '.join(words_of(child) for child in node.get('children', []))


def from_public_service(source):
    """The sheets of the French administration: titles of chapters and what they say."""
    for path, data in files(source, matching(r'data/(particuliers|associations|professionnels)/[FN]\w+\.json$')):
        if len(data) > 400_000:
            continue
        sections = []

        def walk(node):
            children = node.get('children', [])
            if node.get('name') in ('Chapitre', 'SousChapitre', 'Cas', 'BlocCas', 'Publication', 'Introduction', 'QuestionReponse'):
                title = next((words_of(c) for c in children if c.get('name') in ('Titre', 'dc:title')), '')
                body = ' '.join(words_of(c) for c in children if c.get('name') in ('Paragraphe', 'Texte', 'dc:description', 'Introduction'))
                sections.append((title, body))
            for child in children:
                walk(child)

        walk(json.loads(decode(data)))
        yield from passages(sections[:12], '')


def from_labour(source):
    """Questions and answers, and sheets, on French labour law."""
    for _, data in files(source, matching(r'data/[a-z-]+\.json$')):
        for item in json.loads(decode(data)):
            answers = item.get('answers')
            if isinstance(answers, dict):
                yield from passages([(item['title'], (answers.get('generic') or {}).get('text') or '')], '')
            sections = [(s.get('title', ''), s.get('description') or s.get('text', '')) for s in item.get('sections', [])]
            yield from passages([(item.get('title', ''), item.get('description', '')), *sections], '')


WAYS = {
    'readme': ('passage', from_readme, 400),
    'manual': ('passage', from_manual, 12_000),
    'wiki': ('passage', from_wiki, 4_000),
    'public-service': ('passage-fr', from_public_service, 24_000),
    'labour': ('passage-fr', from_labour, 8_000),
}


def pairs(source):
    for use in source['use']:
        if use in WAYS:
            group, way, most = WAYS[use]
            for index, (title, body) in enumerate(way(source)):
                if index == most:
                    break
                yield group, title, body
