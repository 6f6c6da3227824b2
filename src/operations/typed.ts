// Written by "npm run update" from the declarations of the operations. Do not edit.
import type { AnyOperation } from './operation.ts';

/** The operations that only the command line has, each loaded when it is typed. */
export const TYPED = {
  config_show: async () => (await import('./server/config-show.ts')).configShow,
  usage_show: async () => (await import('./server/usage.ts')).usageShow,
  usage_clear: async () => (await import('./server/usage.ts')).usageClear,
  cache_clear: async () => (await import('./server/warm.ts')).cacheClear,
  warm: async () => (await import('./server/warm.ts')).warm,
  remove: async () => (await import('./server/remove.ts')).remove,
  setup: async () => (await import('./server/setup.ts')).setup,
  hosts_show: async () => (await import('./server/hosts-show.ts')).hostsShow,
  sources_list: async () => (await import('./git-sources/sources-list.ts')).sourcesList,
  sources_add: async () => (await import('./git-sources/sources-add.ts')).sourcesAdd,
  sources_remove: async () => (await import('./git-sources/sources-remove.ts')).sourcesRemove,
  sources_update: async () => (await import('./git-sources/sources-update.ts')).sourcesUpdate,
  sources_diff: async () => (await import('./git-sources/sources-diff.ts')).sourcesDiff,
  sources_approve: async () => (await import('./git-sources/sources-approve.ts')).sourcesApprove,
  sources_clear: async () => (await import('./git-sources/sources-clear.ts')).sourcesClear,
  trust: async () => (await import('./completion/trust.ts')).trust,
  delivery_accept: async () => (await import('./handover/handovers.ts')).deliveryAccept,
  task_approve: async () => (await import('./tasks/task-decide.ts')).taskApprove,
  task_refuse: async () => (await import('./tasks/task-decide.ts')).taskRefuse,
  task_approve_all: async () => (await import('./tasks/task-decide.ts')).taskApproveAll,
  state_share: async () => (await import('./project/state-share.ts')).stateShare,
  memory_purge: async () => (await import('./memory/memory-purge.ts')).memoryPurge,
  memory_export: async () => (await import('./memory/memory-transfer.ts')).memoryExport,
  memory_import: async () => (await import('./memory/memory-transfer.ts')).memoryImport,
  memory_reindex: async () => (await import('./memory/memory-transfer.ts')).memoryReindex,
  memory_pairs: async () => (await import('./memory/memory-pairs.ts')).memoryPairs,
  prefer_origin: async () => (await import('./catalogue/prefer.ts')).preferOrigin,
  inbox: async () => (await import('./inbox/inbox.ts')).inbox,
} satisfies Record<string, () => Promise<AnyOperation>>;
