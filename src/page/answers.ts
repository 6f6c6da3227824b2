import type { Topic as Told } from '../operations/client/change-feed.ts';
import type { Answers } from '../operations/registry.ts';

/** What the operations answer, by the types of their declarations, and names for the parts that several views read. */
export type { Answers };
/** What the server tells changes of, and that somebody has come back to the page. */
export type Topic = Told | 'seen';

export interface Session {
  version: string;
  csrf: string;
  scopes: string[];
  language: string;
  readOnly?: boolean;
  /** The database of the team cannot be used. */
  degraded?: boolean;
  /** Operations that have a door of their own, since only a person may call them. */
  forPeople: string[];
  person?: { id: string; until: string };
  project: string | null;
  projects: { root: string; name: string; branch?: string; current?: boolean }[];
  instances: {
    /** Where it can be reached; one over stdin and stdout has no address, but the name of its host. */
    origin?: string;
    client?: string;
    kind: string;
    roots: string[];
    pid: number;
    started: string;
    own?: boolean;
  }[];
  /** Who uses this server. */
  clients: { name: string; last: string }[];
}

export type Next = Answers['next'];
export type NextAction = Next['actions'][number];
export type Step = NextAction['steps'][number];
export type Drift = Next['drift'][number];
export type Evidence = Pick<Drift['evidence'][number], 'file' | 'line' | 'says'>;
export type ProgressItem = NonNullable<Next['items']>[number];
type Activity = Answers['activity'];
export type Event = Activity['events'][number];
export type Work = Activity['work'][number];
export type StoryShown = Answers['story_show'];
export type Inbox = Pick<Answers['inbox'], 'items' | 'unread'>;
export type InboxItem = Inbox['items'][number];
export type Action = InboxItem['actions'][number];
export type Task = Answers['task_show']['task'];
export type RunStatus = Answers['get_workflow_status'];
export type Run = NonNullable<RunStatus['run']>;
export type Receipt = Answers['list_receipts']['items'][number];
export type Listed = Answers['list']['items'][number];
export type Explained = Answers['explain'];
export type Memory = Answers['memory_list']['memories'][number];
export type Failure = Answers['get_failure_museum']['failures'][number];
export type Source = Answers['sources_list']['sources'][number];
export type AuditLine = Answers['audit_show']['lines'][number];
