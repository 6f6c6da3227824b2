/** The commands that take the name of something there is a list of, and the argument that it is. */
export const PICKED = {
  execute: 'name',
  compile_context: 'name',
  read: 'target',
  explain: 'target',
  delegate_to_agent: 'agent_id',
  get_agent_memory: 'agent',
  run_open: 'workflow',
  task_show: 'task_id',
  task_refuse: 'task_id',
  task_cancel: 'task_id',
  memory_get: 'id',
  memory_update: 'id',
  memory_forget: 'id',
  memory_supersede: 'id',
  memory_restore: 'id',
  delivery_validate: 'contract_id',
  delivery_reject: 'contract_id',
  sources_remove: 'source',
  session_switch: 'name',
  session_diff: 'name',
  session_merge: 'name',
  session_archive: 'name',
} as const;

/** Those that go through everything that waits, if they are called without a name. */
export const REVIEWING: readonly string[] = ['task_approve', 'sources_approve', 'delivery_accept'];

/** Those that take something away, and ask first. */
export const REMOVING: readonly string[] = [
  'memory_forget',
  'memory_purge',
  'sources_remove',
  'sources_clear',
  'usage_clear',
  'cache_clear',
  'session_archive',
  'task_cancel',
  'remove',
];

/** Whether a person may leave out what this command needs, to be asked for it. */
export const asksForMissing = (operation: string): boolean =>
  operation in PICKED || REVIEWING.includes(operation);
