// Generated from proto/ by npm run generate.

/** Method by `<service>.<Method>`. */
export const METHODS = {
  'auth.Authenticate': { deadlineMs: 10000, permission: 'service' },
  'auth.GetPrincipal': { deadlineMs: 10000, permission: 'service' },
  'auth.ResolveDatasets': { deadlineMs: 10000, permission: 'principal' },
  'auth.CreateDataset': { deadlineMs: 10000, permission: 'principal' },
  'auth.RemoveDataset': { deadlineMs: 10000, permission: 'principal' },
  'auth.SetQuota': { deadlineMs: 10000, permission: 'service' },
  'auth.Usage': { deadlineMs: 10000, permission: 'service' },
  'auth.GetPublicKeys': { deadlineMs: 5000, permission: 'service' },
  'ingest.DatasetItems': { deadlineMs: 10000, permission: 'service' },
  'ingest.KeepDocuments': { deadlineMs: 120000, permission: 'write' },
  'ingest.AppendSession': { deadlineMs: 10000, permission: 'principal' },
  'ingest.NoteOnTurn': { deadlineMs: 10000, permission: 'principal' },
  'ingest.NoteOnSession': { deadlineMs: 10000, permission: 'principal' },
  'cognify.StartRun': { deadlineMs: 10000, permission: 'principal' },
  'cognify.RecordRun': { deadlineMs: 10000, permission: 'principal' },
  'cognify.GetRun': { deadlineMs: 10000, permission: 'service' },
  'cognify.RunStatuses': { deadlineMs: 10000, permission: 'service' },
  'cognify.Erase': { deadlineMs: 120000, permission: 'delete' },
  'improve.Improve': { deadlineMs: 600000, permission: 'write' },
  'improve.Erase': { deadlineMs: 60000, permission: 'delete' },
  'search.Erase': { deadlineMs: 60000, permission: 'delete' },
  'system.Describe': { deadlineMs: 2000, permission: 'service' },
  'system.Health': { deadlineMs: 2000, permission: 'service' },
} as const;

export type MethodPath = keyof typeof METHODS;
