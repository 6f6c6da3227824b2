import { render, type VNode } from 'preact';
import { effect, signal } from '@preact/signals';
import { language, offerLanguage, t } from '../message.ts';
import { inLine } from '../parts/wording.ts';
import { Board } from './board.tsx';
import { connect, type HostContext } from './bridge.ts';
import { Catalogue } from './catalogue.tsx';
import { Decision } from './decision.tsx';

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
