import type { VNode } from 'preact';
import type { AuditLine } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { amount, moment, number, plural, t } from '../message.ts';
import { Choice, Select } from '../parts/choice.tsx';
import { lastName, dotted, inLine } from '../parts/wording.ts';
import { Empty, Heading, Shown, Unread, unreadOf, When } from '../parts/shown.tsx';
import { refine, route } from '../router.ts';

const TIMES = ['1h', '24h', '7d', '90d'];
const MOST = 500;

/** What lines are told apart by. */
const VALUES = {
  caller: ({ by }: AuditLine) => by.name || by.kind,
  operation: ({ operation }: AuditLine) => operation,
  outcome: ({ outcome }: AuditLine) => outcome,
};
type Filter = keyof typeof VALUES;

/** Who has called what, the newest first; never what was said with it. */
export function Audit(): VNode {
  const { since = '24h', caller, operation, outcome } = Object.fromEntries(route.value.query);
  const wanted = Object.entries({ caller, operation, outcome }).filter(([, value]) => Boolean(value));
  const all = useAnswer('audit_show', { since, limit: MOST }, []);
  const loaded = useAnswer('audit_show', { since, limit: MOST, ...Object.fromEntries(wanted) }, []);
  const select = (name: Filter, says: string, now = ''): VNode => {
    const values = new Set(['', now, ...(all.data?.lines ?? []).map(VALUES[name])]);
    const among = [...values].sort().map((value) => [value, inLine(value, 60) || t`all`] as const);
    return <Select label={says} now={now} among={among} onChoose={(value) => refine({ [name]: value })} />;
  };
  return (
    <>
      <Heading title={t`Audit`} />
      <Choice
        label={t`Since`}
        now={since}
        among={TIMES.map((time) => [time, amount(parseInt(time), time.endsWith('h') ? 'hour' : 'day')])}
        onChoose={(time) => refine({ since: time })}
      >
        {select('caller', t`Caller`, caller)}
        {select('operation', t`Operation`, operation)}
        {select('outcome', t`Outcome`, outcome)}
      </Choice>
      <Shown loaded={loaded}>
        {({ lines, more, bad, folder }) => (
          <>
            {lines.length === 0 ? (
              <Empty
                title={t`No call is on record.`}
                how={t`Servers over HTTP record what changes something, and what they refuse.`}
              />
            ) : null}
            <ol class="stream calls">
              {lines.toReversed().map((line, index) => (
                <Call key={`${line.at} ${index}`} line={line} />
              ))}
            </ol>
            {more === 0 ? null : <p class="soft">{t`and ${number(more)} more`}</p>}
            <Unread items={unreadOf(bad === 0 ? [] : [t`${plural(bad, 'line')} cannot be read.`], folder)} />
          </>
        )}
      </Shown>
    </>
  );
}

function Call({ line }: { line: AuditLine }): VNode {
  const { at, by, operation, outcome, project = '', target = '', ms, count, machine } = line;
  const took = count === undefined ? t`${number(Math.round(ms))} ms` : `× ${number(count)}`;
  return (
    <li data-entry tabIndex={0}>
      <When at={at} as={moment} />
      <span>
        <b>{inLine(operation, 80)}</b>{' '}
        <span class={outcome === 'ok' ? 'good' : 'bad'}>{inLine(outcome, 40)}</span> {inLine(target, 120)}
        <small title={inLine(project)}>
          {inLine(dotted(by.kind, by.name, by.token, by.host, lastName(project), machine, took))}
        </small>
      </span>
    </li>
  );
}
