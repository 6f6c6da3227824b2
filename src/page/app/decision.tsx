import { t } from '../message.ts';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { inLine, visible } from '../parts/wording.ts';
import { Proof, Say } from './parts.tsx';

const MOST_OPTIONS = 4;

/** One question with its options. What is chosen is said in the conversation by the host, and approves nothing. */
export function Decision({ args }: { args: Readonly<Record<string, unknown>> }): VNode {
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
