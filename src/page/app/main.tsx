import { render, type VNode } from 'preact';
import { effect, signal } from '@preact/signals';
import { language, offerLanguage, t } from '../message.ts';
import { inLine, visible } from '../parts/wording.ts';
import { Board } from './board.tsx';
import { connect, type HostContext } from './bridge.ts';
import { Catalogue } from './catalogue.tsx';
import { useState } from 'preact/hooks';
import { Proof, Say } from './parts.tsx';

const MOST_OPTIONS = 4;

/** One question with its options. What is chosen is said in the conversation by the host, and approves nothing. */
function Decision({ args }: { args: Readonly<Record<string, unknown>> }): VNode {
  const [chosen, setChosen] = useState(false);
  const question = text(args['question']);
  const options = list(args['options']).slice(0, MOST_OPTIONS);
  const recommended = text(args['recommendation']);
  return (
    <main>
      <h1>{visible(question) || t`Loading`}</h1>
      {text(args['why']) === '' ? null : <p class="soft">{inLine(text(args['why']), 600)}</p>}
      <ol class="list">
        {options.map((option, index) => (
          <li key={option}>
            <p class="what">
              <span class="letter">{LETTERS[index]}</span> {visible(option)}{' '}
              {option === recommended ? <span class="good">{t`recommended`}</span> : null}
            </p>
            {chosen ? null : (
              <Say
                text={`${question} → ${option}`}
                label={t`Choose`}
                name={`${t`Choose`}: ${inLine(option, 100)}`}
                main={option === recommended}
                onSent={() => setChosen(true)}
              />
            )}
          </li>
        ))}
      </ol>
      {chosen ? (
        <p role="status" class="good">
          {t`Sent to the conversation`}
        </p>
      ) : null}
      <Proof evidence={list(args['evidence']).map((says) => ({ says }))} />
      <p class="soft small">{t`Your choice goes into the conversation as your message. It approves nothing: tasks, sources, deliveries and programs are approved with "bmad page" or in a terminal.`}</p>
    </main>
  );
}

const LETTERS = ['A', 'B', 'C', 'D'];

const text = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 2_000) : '');
const list = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];

declare const APP_VERSION: string;

type View = 'board' | 'catalogue' | 'decision';

const VIEWS: Readonly<Partial<Record<string, View>>> = {
  show_board: 'board',
  show_catalogue: 'catalogue',
  ask_decision: 'decision',
};

const view = signal<View | undefined>(undefined);
const input = signal<Readonly<Record<string, unknown>>>({});
const failed = signal('');

function App(): VNode {
  const { value } = view;
  if (failed.value !== '') return <p class="bad">{inLine(failed.value, 600)}</p>;
  if (value === undefined) return <p class="soft">{t`Loading`}</p>;
  if (value === 'decision') return <Decision args={input.value} />;
  const project = input.value['project'];
  const given = typeof project === 'string' ? { project } : {};
  return value === 'catalogue' ? <Catalogue args={input.value} given={given} /> : <Board given={given} />;
}

function hear(context: HostContext): void {
  const { theme, locale, toolInfo } = context;
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset['theme'] = theme;
  if (locale !== undefined) offerLanguage(locale);
  const named = VIEWS[toolInfo?.tool?.name ?? ''];
  if (named !== undefined) view.value = named;
}

/** Hosts need not say which tool was called; what it was called with tells as well. */
function viewFor(args: Readonly<Record<string, unknown>>): View {
  if ('question' in args) return 'decision';
  return 'what' in args || 'query' in args ? 'catalogue' : 'board';
}

effect(() => {
  document.documentElement.lang = language.value;
});
render(<App />, document.body);
void connect(APP_VERSION, {
  context: hear,
  input(args) {
    input.value = args;
    view.value ??= viewFor(args);
  },
  result({ isError, content }) {
    if (isError === true) failed.value = content?.[0]?.text ?? '';
    view.value ??= 'board';
  },
});
