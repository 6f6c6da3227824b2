import { lexer, type Token, type Tokens } from 'marked';
import type { ComponentChildren, VNode } from 'preact';
import { withoutEntities, withoutFields, visible } from './wording.ts';
import { Exact } from './texts.tsx';

/** Above this a text is shown as it is written: nobody reads it as a page, and taking it apart takes long. */
const MOST = 300_000;

/** Markdown as elements. Nothing in it becomes markup of the page: its HTML is shown as text, its images are named. */
export function Markdown({ text }: { text: string }): VNode {
  const isOther = text.startsWith('{') || text.split('\n').some(({ length }) => length > 20_000);
  if (text.length > MOST || isOther) return <Exact text={text} />;
  const { fields, body } = withoutFields(text);
  return (
    <div class="prose">
      {fields === undefined ? null : <pre class="fields">{visible(fields)}</pre>}
      {blocks(lexer(body))}
    </div>
  );
}

const blocks = (tokens: readonly Token[]): ComponentChildren =>
  tokens.map((token, index) => <Block key={index} token={token} />);

const inlines = (tokens: readonly Token[] | undefined, otherwise = ''): ComponentChildren =>
  tokens === undefined
    ? visible(withoutEntities(otherwise))
    : tokens.map((token, index) => <Inline key={index} token={token} />);

/** Headings of a file are below those of the page. */
function Title({ depth, children }: { depth: number; children: ComponentChildren }): VNode {
  return depth <= 1 ? <h3>{children}</h3> : depth === 2 ? <h4>{children}</h4> : <h5>{children}</h5>;
}

function Block({ token }: { token: Token }): VNode | null {
  const known = token as Tokens.Generic;
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading':
      return (
        <Title depth={(token as Tokens.Heading).depth}>
          {inlines(known.tokens, known['text'] as string)}
        </Title>
      );
    case 'paragraph':
      return <p>{inlines(known.tokens)}</p>;
    case 'text':
      return <>{inlines(known.tokens, known['text'] as string)}</>;
    case 'code':
      return (
        <pre tabIndex={0}>
          <code>{visible((token as Tokens.Code).text)}</code>
        </pre>
      );
    case 'blockquote':
      return <blockquote>{blocks(known.tokens ?? [])}</blockquote>;
    case 'hr':
      return <hr />;
    case 'list':
      return <List list={token as Tokens.List} />;
    case 'table':
      return <Table table={token as Tokens.Table} />;
    default:
      return <pre class="raw">{visible(known.raw)}</pre>;
  }
}

function List({ list }: { list: Tokens.List }): VNode {
  const items = list.items.map((item, index) => (
    <li key={index}>
      {item.task ? <span aria-hidden="true">{item.checked === true ? '☑ ' : '☐ '}</span> : null}
      {blocks(item.tokens.filter(({ type }) => type !== 'checkbox'))}
    </li>
  ));
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table }: { table: Tokens.Table }): VNode {
  return (
    <div class="wide" tabIndex={0} role="group" aria-label="table">
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={index} scope="col">
                {inlines(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, line) => (
            <tr key={line}>
              {row.map((cell, index) => (
                <td key={index}>{inlines(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Inline({ token }: { token: Token }): VNode {
  const known = token as Tokens.Generic;
  switch (token.type) {
    case 'strong':
      return <strong>{inlines(known.tokens)}</strong>;
    case 'em':
      return <em>{inlines(known.tokens)}</em>;
    case 'del':
      return <del>{inlines(known.tokens)}</del>;
    case 'codespan':
      return <code>{visible((token as Tokens.Codespan).text)}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <Link link={token as Tokens.Link} />;
    case 'image':
      return (
        <code>
          {visible(`${(token as Tokens.Image).text} (${(token as Tokens.Image).href.slice(0, 200)})`)}
        </code>
      );
    case 'text':
      return <>{inlines(known.tokens, known['text'] as string)}</>;
    case 'escape':
      return <>{visible((token as Tokens.Escape).text)}</>;
    default:
      return <code class="raw">{visible(known.raw)}</code>;
  }
}

/** Only plain web addresses can be followed, and they are named; the rest leads nowhere from here. */
function Link({ link }: { link: Tokens.Link }): VNode {
  const text = inlines(link.tokens, link.text);
  if (!link.href.startsWith('https://') && !link.href.startsWith('http://'))
    return <span title={visible(link.href.slice(0, 300))}>{text}</span>;
  return (
    <a href={link.href} target="_blank" rel="noopener noreferrer" title={visible(link.href.slice(0, 300))}>
      {text}
    </a>
  );
}
