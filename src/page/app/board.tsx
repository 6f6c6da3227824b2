import type { VNode } from 'preact';
import type { Next, NextAction as Action } from '../answers.ts';
import { inLine } from '../parts/visible.ts';
import { columnOf, COLUMNS, titleOf } from '../views/stories.ts';
import { Problem, Proof, Say, useData } from './parts.tsx';
import { words } from './words.ts';

const MOST_ACTIONS = 3;
const MOST_CARDS = 8;

/** Where the project stands and what comes next; a button asks for it in the conversation. */
export function Board({ given }: { given: Readonly<Record<string, string>> }): VNode {
  const { data, error, reload } = useData<Next>({ view: 'board', ...given });
  const said = words.value;
  return (
    <main>
      <h1>{said.board}</h1>
      <Problem error={error} reload={reload} />
      {data === undefined ? (
        error === undefined ? (
          <p class="soft">{said.loading}</p>
        ) : null
      ) : (
        <Standing next={data} />
      )}
    </main>
  );
}

function Standing({ next: { phases, actions, drift, items = [], totals } }: { next: Next }): VNode {
  const said = words.value;
  const stories = items.filter(({ kind }) => kind === 'story');
  return (
    <>
      <div class="phases">
        {phases.map(({ phase, state, evidence }) => (
          <section key={phase}>
            <strong>{nameIn(said.phases, phase)}</strong>
            <span>
              {phase === 'implementation' && totals.stories > 0
                ? said.stories(totals.done, totals.stories)
                : nameIn(said.states, state)}
            </span>
            <Proof evidence={evidence.slice(0, 1)} />
          </section>
        ))}
      </div>
      {actions.length === 0 ? <p class="soft">{said.nothingLeft}</p> : null}
      <ol class="list">
        {actions.slice(0, MOST_ACTIONS).map((action, index) => (
          <li key={action.what}>
            <div>
              <p class="what">
                {shown(action)} {action.optional ? <span class="soft">{said.optional}</span> : null}
              </p>
              <p class="soft">
                {inLine(action.why, 300)}
                {action.says === undefined ? '' : `: ${inLine(action.says, 300)}`}
              </p>
              <Proof evidence={action.evidence.slice(0, 2)} />
            </div>
            <Say
              text={messageFor(action)}
              label={said.start}
              name={said.start_this(inLine(action.what, 100))}
              main={index === 0}
            />
          </li>
        ))}
      </ol>
      {drift.length === 0 ? null : <p class="warn">{said.drift(drift.length)}</p>}
      {stories.length === 0 ? null : (
        <div class="cols">
          {COLUMNS.map((column) => {
            const own = stories.filter((story) => columnOf(story) === column);
            return (
              <section key={column} aria-label={`${said.columns[column]}, ${own.length}`}>
                <h2>
                  {said.columns[column]} <span>{own.length}</span>
                </h2>
                {own.slice(0, MOST_CARDS).map(({ id }) => (
                  <p class="card" key={id}>
                    {inLine(titleOf(id), 80)}
                  </p>
                ))}
                {own.length > MOST_CARDS ? <p class="soft">{said.more(own.length - MOST_CARDS)}</p> : null}
              </section>
            );
          })}
        </div>
      )}
    </>
  );
}

const nameIn = (names: Readonly<Record<string, string>>, word: string): string =>
  Object.hasOwn(names, word) ? (names[word] ?? word) : inLine(word, 60);

const shown = ({ what }: Action): string => inLine(what, 200);

/** What the user says to start it: the step in words, and the call that does it, so that no model has to guess. */
function messageFor(step: Action): string {
  const { call, action } = step;
  // What is read is what is said: a longer title has no part that only the model sees.
  const what = shown(step);
  if (call !== undefined) return `${what}: bmad ${JSON.stringify(call)}`;
  if (action !== undefined) return `${what}: ${action.name} ${JSON.stringify(action.args)}`;
  return what;
}
